import { crc32, deflateSync, inflateSync } from 'node:zlib';

/**
 * Makes a picture of screens, as the browser takes it, small: a PNG with the 256 colours that it has most of. Screens have few, and the shades at the
 * edges of letters look like their neighbours.
 */

const COLOURS_MAX = 256;
/** Colours nearer to each other than this look alike. */
const ALIKE = 5 ** 2;
const HEADER_BYTES = 8;

export function smallPng(png: Buffer): Buffer {
  const { width, height, pixels } = decode(png);
  const counts = new Map<number, number>();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  const palette: number[] = [];
  for (const [colour] of [...counts].sort(([, a], [, b]) => b - a)) {
    if (palette.length === COLOURS_MAX) break;
    if (palette.every((chosen) => distance(chosen, colour) >= ALIKE)) palette.push(colour);
  }
  const places = new Map(counts.keys().map((colour) => [colour, nearest(palette, colour)]));

  const lines = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      lines[y * (width + 1) + 1 + x] = places.get(pixels[y * width + x] ?? 0) ?? 0;
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // Eight bits each, from a palette.
  head.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    png.subarray(0, HEADER_BYTES),
    chunk('IHDR', head),
    chunk('PLTE', Buffer.from(palette.flatMap(channels))),
    chunk('IDAT', deflateSync(lines, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const channels = (colour: number) => [colour >> 16, (colour >> 8) & 255, colour & 255] as const;

function distance(a: number, b: number): number {
  const [red, green, blue] = channels(a);
  const [otherRed, otherGreen, otherBlue] = channels(b);
  return (red - otherRed) ** 2 + (green - otherGreen) ** 2 + (blue - otherBlue) ** 2;
}

function nearest(palette: readonly number[], colour: number): number {
  const distances = palette.map((chosen) => distance(chosen, colour));
  return distances.indexOf(Math.min(...distances));
}

function chunk(type: string, body: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), body]);
  const framed = Buffer.alloc(named.length + 8);
  framed.writeUInt32BE(body.length, 0);
  framed.set(named, 4);
  framed.writeUInt32BE(crc32(named), named.length + 4);
  return framed;
}

/** The pixels, each red, green and blue in one number. The browser writes eight bits a channel, not interlaced. */
function decode(png: Buffer): { width: number; height: number; pixels: Uint32Array } {
  const width = png.readUInt32BE(16);
  const height = png.readUInt32BE(20);
  const samples = png[25] === 6 ? 4 : 3;
  const parts: Buffer[] = [];
  for (let at = HEADER_BYTES; at < png.length; at += png.readUInt32BE(at) + 12)
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      parts.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  const data = inflateSync(Buffer.concat(parts));
  const stride = width * samples;
  let above = new Uint8Array(stride);
  const pixels = new Uint32Array(width * height);
  for (let y = 0; y < height; y++) {
    const filter = data[y * (stride + 1)] ?? 0;
    const line = Uint8Array.from(data.subarray(y * (stride + 1) + 1, (y + 1) * (stride + 1)));
    for (let x = 0; x < stride; x++) {
      const before = x < samples ? [0, 0] : [line[x - samples] ?? 0, above[x - samples] ?? 0];
      line[x] = (line[x] ?? 0) + predicted(filter, before[0] ?? 0, above[x] ?? 0, before[1] ?? 0);
    }
    for (let x = 0; x < width; x++) {
      const [red = 0, green = 0, blue = 0] = line.subarray(x * samples);
      pixels[y * width + x] = (red << 16) | (green << 8) | blue;
    }
    above = line;
  }
  return { width, height, pixels };
}

/** What a line was written less: the filters of the PNG specification, none, sub, up, average and Paeth. */
function predicted(filter: number, left: number, up: number, upLeft: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  if (filter !== 4) return 0;
  const guess = left + up - upLeft;
  const [toLeft, toUp, toUpLeft] = [left, up, upLeft].map((one) => Math.abs(guess - one)) as [
    number,
    number,
    number,
  ];
  if (toLeft <= toUp && toLeft <= toUpLeft) return left;
  return toUp <= toUpLeft ? up : upLeft;
}
