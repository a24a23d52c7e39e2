import { createHash } from 'node:crypto';
import { type Exchange, pageHeaders, respond } from './exchange.ts';

/** What a browser is shown that was sent here by the provider and cannot be let in. Nothing in it is loaded from anywhere, and nothing runs. */
export interface Notice {
  status: number;
  title: string;
  /** What happened, and what to do about it; each a paragraph. */
  text: readonly string[];
}

/** The colours are the documentation's. */
const STYLE = `
  :root {
    color-scheme: light dark; font: 16px/1.5 ui-sans-serif, system-ui, sans-serif;
    color: light-dark(#1a2228, #e4e7e6); background: light-dark(#ffffff, #11161a);
  }
  body { max-width: 36rem; margin: 4rem auto; padding: 0 1.25rem; }
  h1 { font-size: 1.4rem; line-height: 1.25; }
  p { overflow-wrap: anywhere; }
  a { color: light-dark(#0b6478, #6cc5d9); }
  small { color: light-dark(#545f68, #a3aeb5); }
`;

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

export function respondNotice(exchange: Exchange, { status, title, text }: Notice): void {
  const paragraphs = text.map((one) => `<p>${escaped(one)}</p>`).join('\n');
  const page = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)} · Porter</title><style>${STYLE}</style></head>
<body><main>
<h1>${escaped(title)}</h1>
${paragraphs}
<p><a href="/console/sign-in">Back to signing in</a></p>
<p><small>Request ${escaped(exchange.id)}</small></p>
</main></body>
</html>
`;
  exchange.outgoing.push('content-security-policy', POLICY, ...pageHeaders);
  respond(exchange, status, page, 'text/html; charset=utf-8');
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
