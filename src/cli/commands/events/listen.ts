import { events } from '../../../contract/events.ts';
import { newSecret, secretBytes, signedHeaders } from '../../../domain/events/signature.ts';
import { defineCommand } from '../../command.ts';
import { followEvents, type StreamedEvent } from '../../event-stream.ts';
import { exitCodes, stoppedCode, UsageError } from '../../exit.ts';
import { KeyedQueue } from '../../keyed-queue.ts';
import { inLine } from '../../printer.ts';
import { readProfiles, writeProfiles } from '../../profiles.ts';
import type { World } from '../../world.ts';

const AT_ONCE_MAX = 8;
const WAITING_MAX = 1_000;
/** The service itself waits as long for a receiver. */
const ANSWER_MS = 15_000;

/** What became of an event that was handed on. */
interface Forwarded {
  status: number | null;
  error: string | null;
  /** The beginning of the response's body; null if there was none. */
  answer: string | null;
  duration_ms: number;
}

export const listenCommand = defineCommand({
  name: 'listen',
  section: 'partner',
  calls: 'partner',
  summary: 'Show events as they happen, and forward them to a server on your machine.',
  details:
    'Nothing has to be registered. What is forwarded is signed like a real delivery, with the secret in WEBHOOK_SECRET, or with one that is made once and stays the same. Events about the same object are forwarded one after another. A stream that breaks off is resumed where it broke. A response that is not a 2xx is shown with the beginning of its body, and the event is not sent again: use `porter resend` with a webhook for that.',
  options: {
    'forward-to': { value: 'url', summary: 'Post each event to this URL, or to this port of your machine.' },
    events: {
      value: 'names',
      summary: 'Only those, with commas between.',
      many: true,
      choices: Object.keys(events),
    },
    'print-secret': { summary: 'Print the secret that stays the same, and end.' },
  },
  examples: [
    'listen --forward-to http://localhost:3000/hooks',
    'listen --forward-to 3000',
    'listen --events appointment.confirmed,appointment.cancelled',
    'listen --print-secret',
  ],
  async run({ api, options, out, world }) {
    const target = options['forward-to'] === undefined ? undefined : targetOf(options['forward-to']);
    if (options['print-secret']) {
      const secret = await keptSecret(world);
      out.document({ secret }, () => secret);
      return exitCodes.ok;
    }
    const given = world.env.WEBHOOK_SECRET;
    const secret = given || (await keptSecret(world));
    const forward = forwarder(world, bytesOf(secret));
    let sequence = 0;
    const queue = new KeyedQueue({ atOnceMax: AT_ONCE_MAX, waitingMax: WAITING_MAX });

    const show = (event: StreamedEvent, forwarded: Forwarded | null) =>
      out.line({ ...event, forwarded }, () => {
        const at = out.paint('dim', new Date(world.clock.now()).toTimeString().slice(0, 8));
        const what = `${at}  ${inLine(`${event.data.event}  ${event.data.id}`)}  ${out.paint('dim', inLine(event.id))}`;
        return forwarded ? `${what} → ${answerInWords(forwarded, out.paint.bind(out))}` : what;
      });

    await followEvents({
      api,
      out,
      world,
      eventTypes: options.events,
      opened() {
        if (target)
          out.note(`Forwarding to ${target}, signed with ${given ? 'the secret in WEBHOOK_SECRET' : secret}`);
        out.note('Listening. Ctrl-C ends it.');
      },
      async received(event) {
        if (!target) return show(event, null);
        const place = ++sequence;
        await queue.add(`${event.data.object} ${event.data.id}`, async () => {
          const forwarded = await forward(target, event, place);
          if (!world.stop.aborted) show(event, forwarded);
        });
      },
    });
    return stoppedCode(world.stop);
  },
});

function forwarder(world: World, secret: Uint8Array) {
  return async (target: string, event: StreamedEvent, sequence: number): Promise<Forwarded> => {
    const body = JSON.stringify(event.data);
    const headers = signedHeaders({
      // The same whenever the event is streamed again, so that a receiver can tell a repetition.
      id: event.id,
      timestampSeconds: Math.floor(world.clock.now() / 1000),
      sequence,
      body,
      secrets: [secret],
    });
    const startedAt = world.clock.monotonic();
    const took = () => Math.round(world.clock.monotonic() - startedAt);
    try {
      const signal = AbortSignal.any([world.stop, AbortSignal.timeout(ANSWER_MS)]);
      const response = await world.fetch(target, {
        method: 'POST',
        redirect: 'manual',
        headers,
        body,
        signal,
      });
      const answer = await beginningOf(response);
      return { status: response.status, error: null, answer, duration_ms: took() };
    } catch (error) {
      const { cause, name, message } = error as Error & { cause?: { code?: string } };
      const reason =
        name === 'TimeoutError' ? `no answer in ${ANSWER_MS / 1000} s` : (cause?.code ?? message);
      return { status: null, error: reason, answer: null, duration_ms: took() };
    }
  };
}

/** The delivery log of the service keeps the same number of bytes. */
const ANSWER_BYTES_MAX = 1_024;

async function beginningOf(response: Response): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= ANSWER_BYTES_MAX) break;
  }
  // A character that the limit cuts in two is left out.
  const bytes = Buffer.concat(chunks).subarray(0, ANSWER_BYTES_MAX);
  return new TextDecoder().decode(bytes, { stream: true }).trim() || null;
}

function answerInWords(
  { status, error, answer, duration_ms }: Forwarded,
  paint: (format: 'green' | 'red', text: string) => string,
): string {
  const good = status !== null && status >= 200 && status < 300;
  const took = `(${duration_ms} ms)`;
  if (good) return `${paint('green', String(status))} ${took}`;
  const why = answer === null ? '' : `\n${answer.replaceAll(/^/gm, '          ')}`;
  return `${paint('red', status === null ? (error ?? '') : String(status))} ${took}${why}`;
}

function targetOf(text: string): string {
  const place = /^\d+$/.test(text) ? `127.0.0.1:${text}` : text;
  const url = /^https?:\/\//.test(place) ? place : `http://${place}`;
  if (!URL.canParse(url))
    throw new UsageError(`--forward-to: "${text}" is not an address.`, 'Such as http://localhost:3000/hooks');
  return new URL(url).href;
}

function bytesOf(secret: string): Uint8Array {
  try {
    return secretBytes(secret);
  } catch {
    throw new UsageError(
      'WEBHOOK_SECRET is not the secret of a webhook.',
      'It is whsec_ and 44 characters of base64; without it, one is made for you.',
    );
  }
}

/** Made on the first run and kept, so that the receiver's settings stay right. */
async function keptSecret(world: World): Promise<string> {
  const file = await readProfiles(world);
  if (file.listen_secret !== undefined) return file.listen_secret;
  const secret = newSecret(world.random);
  await writeProfiles(world, { ...file, listen_secret: secret });
  return secret;
}
