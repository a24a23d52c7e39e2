import { describe, expect, it } from 'vitest';
import { renderMarkdown } from '../../src/site/markdown.ts';

const html = (text: string, source = 'guides/some.md') => renderMarkdown(text, source).html;

describe('what is not trusted', () => {
  it('shows markup as text, and leaves remarks out', () => {
    expect(html('<script>alert(1)</script>')).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(html('a <img src=x onerror=alert(1)> b')).not.toContain('<img');
    expect(html('![an image](https://example.org/x.png)')).toBe('<p>an image</p>\n');
    expect(html('<!-- for editors -->\n\n# Title')).not.toContain('editors');
  });

  it.each(['javascript:alert(1)', 'data:text/html,x', '//evil.example', '/v1/keys', '../../../etc/passwd'])(
    'does not link to %s',
    (href) => {
      expect(html(`[text](${href})`)).toBe('<p>text</p>\n');
    },
  );

  it('escapes code in every language, known or not', () => {
    for (const language of ['sh', 'ts', 'json', 'http', 'unknown', ''])
      expect(html(`\`\`\`${language}\n<b>&"\n\`\`\``)).not.toContain('<b>');
  });
});

describe('links', () => {
  it.each([
    ['receiving-webhooks.md', '/docs/guides/receiving-webhooks'],
    ['receiving-webhooks.md#pause', '/docs/guides/receiving-webhooks#pause'],
    ['../index.md', '/docs'],
    ['../operating/settings.md', '/docs/operating/settings'],
    ['../reference/events.md#prescriptionissued', '/docs/events#prescriptionissued'],
    ['../reference/errors.md', '/docs/errors'],
    ['../reference/errors.md#not_found', '/docs/errors/not_found'],
    ['../../spec/openapi.json', '/docs/openapi.json'],
    ['#here', '#here'],
  ])('%s leads to %s', (href, target) => {
    expect(html(`[text](${href})`)).toBe(`<p><a href="${target}">text</a></p>\n`);
  });

  it('say in words where a file of the repository is that is not served', () => {
    const record = html('[Record 1](../decisions/0001-row-level-security.md)');
    expect(record).toContain(
      'Record 1 (<code>docs/decisions/0001-row-level-security.md</code> in the repository)',
    );
    expect(record).not.toContain('<a ');
    expect(html('[`receiver.ts`](../../examples/receiver.ts)')).toContain(
      '<span class="repository" data-file="examples/receiver.ts"><code>receiver.ts</code></span>',
    );
  });

  it('are made of an address of the site that is only named', () => {
    expect(html('See `/docs/api`.')).toBe('<p>See <a href="/docs/api"><code>/docs/api</code></a>.</p>\n');
    expect(html('[`/docs/api`](../index.md)').match(/<a /g)).toHaveLength(1);
    expect(html('`/docs/nothing`')).not.toContain('<a ');
  });
});

describe('headings', () => {
  it('have the IDs that GitHub gives them', () => {
    const { title, headings } = renderMarkdown(
      '# A title\n\n## 8. Rotate the secret\n\n### appointment.booking-failed\n\n## What `it` is: x_y\n\n## Pause\n\n## Pause',
      'guides/some.md',
    );
    expect(title).toBe('A title');
    expect(headings.map(({ id }) => id)).toEqual([
      '8-rotate-the-secret',
      'appointmentbooking-failed',
      'what-it-is-x_y',
      'pause',
      'pause-1',
    ]);
  });

  it('divide the page into passages for the search', () => {
    const { passages } = renderMarkdown(
      '# Title\n\nFirst *words*.\n\n## Part\n\n- one\n- two\n\n| a | b |\n|---|---|\n| c | `d` |\n\n```sh\nls\n```',
      'guides/some.md',
    );
    expect(passages.map(({ heading, text }) => [heading.text, text])).toEqual([
      ['Title', 'First words.'],
      ['Part', 'one two a b c d ls'],
    ]);
  });
});

describe('tables', () => {
  it('name the column in each cell, for where there is no room for columns', () => {
    const made = html('| Event | `object` |\n|---|---|\n| *one* | `"<b>` |');
    expect(made).toContain('<td role="cell" data-column="Event"><em>one</em></td>');
    expect(made).toContain('<td role="cell" data-column="object"><code>&quot;&lt;b&gt;</code></td>');
  });

  it('say of long code that it may be broken', () => {
    const address = 'https://staging.webhooks.porter.example';
    expect(html(`| a |\n|---|\n| \`${address}\` |`)).toContain(`<code class="long">${address}</code>`);
    expect(html('| a |\n|---|\n| `127.0.0.1` |')).toContain('<code>127.0.0.1</code>');
  });
});

describe('code blocks', () => {
  it('mark what stands for the reader, but not in answers', () => {
    const block =
      "curl http://127.0.0.1:8080 -H 'x-api-key: ptr_test_YOUR_KEY' -H 'x-practice-group-id: riverside-surgery'";
    const request = html(`\`\`\`sh\n${block}\n\`\`\``);
    expect([...request.matchAll(/data-fill="(\w+)"/g)].map(([, name]) => name)).toEqual([
      'origin',
      'key',
      'group',
    ]);
    expect(html('```json output\n{"id": "riverside-surgery"}\n```')).not.toContain('data-fill');
  });

  it('are left as they are where they say so, in a tab too', () => {
    for (const info of ['sh fixed', 'sh tab="Shell" fixed']) {
      const made = html(`\`\`\`${info}\necho riverside-surgery ptr_test_YOUR_KEY\n\`\`\``);
      expect(made).toContain('riverside-surgery');
      expect(made).not.toContain('data-fill');
    }
  });

  it('are tabs where neighbours have titles, in a list too', () => {
    const blocks = '```ts tab="TypeScript"\nlet a;\n```\n\n```sh tab="Shell"\nls\n```\n';
    for (const text of [
      `${blocks}\n\`\`\`json output\n{}\n\`\`\``,
      `1. Item\n\n${blocks.replaceAll(/^/gm, '   ')}`,
    ]) {
      const made = html(text);
      expect(made.match(/class="tabs"/g)).toHaveLength(1);
      expect(made.match(/class="panel"/g)).toHaveLength(2);
      expect(made).toContain('<figcaption>TypeScript</figcaption>');
    }
    expect(html('```ts\nlet a;\n```\n\n```sh\nls\n```')).not.toContain('class="tabs"');
  });
});
