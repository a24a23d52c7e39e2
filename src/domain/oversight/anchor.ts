import { createPublicKey, verify } from 'node:crypto';

/**
 * An anchor is one line that says where the chain of the audit ended at a moment, signed. Whoever keeps one outside can tell later
 * whether the chain was cut or written anew since: it must still have that hash at that number.
 */
export interface Anchor {
  seq: number;
  /** In hex. */
  hash: string;
  at: string;
  /** The public key (Ed25519), in base64url. */
  key: string;
}

export interface SignedAnchor extends Anchor {
  line: string;
  isGenuine: boolean;
}

const LINE =
  /^(porter-audit-anchor-v1 seq=(\d{1,15}) hash=([0-9a-f]{64}) at=([0-9T:.Z-]{24}) key=([A-Za-z0-9_-]{43})) signature=([A-Za-z0-9_-]{86})$/;

/** What is signed: the line up to the signature. */
export function anchorText({ seq, hash, at, key }: Anchor): string {
  return `porter-audit-anchor-v1 seq=${seq} hash=${hash} at=${at} key=${key}`;
}

export function anchorLine(anchor: Anchor, signature: Buffer): string {
  return `${anchorText(anchor)} signature=${signature.toString('base64url')}`;
}

/** Undefined for what is no anchor at all. */
export function readAnchor(line: string): SignedAnchor | undefined {
  const [, text, seq, hash = '', at = '', key = '', signature = ''] = LINE.exec(line.trim()) ?? [];
  if (text === undefined) return undefined;
  return { seq: Number(seq), hash, at, key, line: line.trim(), isGenuine: isSigned(text, key, signature) };
}

function isSigned(text: string, key: string, signature: string): boolean {
  try {
    const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key }, format: 'jwk' });
    return verify(null, Buffer.from(text), publicKey, Buffer.from(signature, 'base64url'));
  } catch {
    return false;
  }
}
