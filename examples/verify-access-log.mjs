// Verifies an export of the access log, with nothing but Node:
//
//   node verify-access-log.mjs access-log.ndjson [batch:hash]
//
// `batch:hash` is a line that you kept, such as one out of the audit (action access_log.anchor), or the end of an earlier export.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

const [file, kept] = process.argv.slice(2);
const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();
const fail = (message) => {
  console.error(`not as it was written: ${message}`);
  process.exit(1);
};

const input = file ? createReadStream(file) : process.stdin;
input.on('error', ({ code }) => {
  console.error(`${file} cannot be read (${code}). Check its name, and who may read it.`);
  process.exit(1);
});
const lines = createInterface({ input, crlfDelay: Infinity })[Symbol.asyncIterator]();
const next = async () => (await lines.next()).value;
const parsed = (line, what) => {
  try {
    return JSON.parse(line);
  } catch {
    return fail(`${what} is missing or cut off`);
  }
};

const { from } = parsed(await next(), 'the first line');
if (!from) fail('the first line does not say where the export begins');
let { batch } = from;
let hash = Buffer.from(from.hash, 'hex');
let isKeptFound = kept === undefined || kept === `${batch}:${from.hash}`;
const counts = { batches: 0, entries: 0, of_others: 0, erased: 0, received: 0 };

for (;;) {
  const head = parsed(await next(), `what follows batch ${batch}`);
  if (head.to) {
    if (head.to.batch !== batch || head.to.hash !== hash.toString('hex'))
      fail(`the end is not the one of batch ${batch}`);
    break;
  }
  if (head.batch !== batch + 1) fail(`batch ${batch + 1} is missing`);
  batch = head.batch;
  const digests = [];
  for (let n = 0; n < head.entries; n++) {
    const line = await next();
    const entry = parsed(line, `an entry of batch ${batch}`);
    // Of another practice's entries, and of those that were erased, the digest stands in for the text.
    const isWhole = entry.digest === undefined;
    digests.push(isWhole ? sha256(line) : Buffer.from(entry.digest, 'hex'));
    counts[isWhole ? 'entries' : entry.erased_by ? 'erased' : 'of_others']++;
  }
  hash = sha256(hash, sha256(Buffer.concat(digests)));
  if (hash.toString('hex') !== head.hash) fail(`batch ${batch} was altered`);
  if (kept === `${batch}:${head.hash}`) isKeptFound = true;
  counts.batches++;
}
if (!isKeptFound) fail(`the log does not hold ${kept}`);
// What was received is told by the deliveries, and not part of the chain. With it, the last line says how much there is.
if (from.practice_group_id) {
  for (;;) {
    const { received, end } = parsed(await next(), 'what was received');
    if (received) counts.received++;
    else if (end?.received === counts.received) break;
    else fail(`of what was received, ${counts.received} are here, and the end says ${end?.received}`);
  }
}
console.log(JSON.stringify({ ok: true, to: `${batch}:${hash.toString('hex')}`, ...counts }));
