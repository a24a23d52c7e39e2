import { Marked, type RendererObject, type Token, type Tokens } from 'marked';
import { codeBlock, type Fence, readFence } from './code.ts';
import { type Article, escapeHtml, type Heading, heading } from './html.ts';
import { isServed, resolveLink } from './links.ts';

/** A stretch of a page below one heading, as the search finds it. */
interface Passage {
  heading: Heading;
  text: string;
}

export interface Page extends Article {
  passages: readonly Passage[];
}

type HeadingToken = Tokens.Heading & { id: string };
interface TabsToken extends Tokens.Generic {
  type: 'tabs';
  blocks: { text: string; fence: Fence }[];
}

/** `source` is the file below docs/ that the text comes from: links are relative to it. */
export function renderMarkdown(text: string, source: string): Page {
  const marked = new Marked({
    renderer: renderer(source),
    extensions: [{ name: 'tabs', renderer: (token) => tabs(token as TabsToken) }],
  });
  const tokens = marked.lexer(text);
  const headings = nameHeadings(tokens);
  const passages = passagesOf(tokens);
  const html = marked.parser(withTabs(tokens));
  return { title: headings[0]?.text ?? source, html, headings: headings.slice(1), passages };
}

/** Longer code may be broken where there is little room. */
const WORD_MAX = 24;
/** A command that is longer may go over two lines of a table. */
const COMMAND_MAX = 70;

function renderer(source: string): RendererObject {
  let insideLink = false;
  return {
    heading(token) {
      const html = this.parser.parseInline(token.tokens);
      if (token.depth === 1) return `<h1>${html}</h1>\n`;
      return heading(asHeading(token as HeadingToken), html);
    },
    code({ text, lang }) {
      return codeBlock(text, readFence(lang));
    },
    /** With its roles said, because the style takes the table apart on a phone; a cell names its column there. */
    table({ header, rows }) {
      const head = header.map(
        ({ tokens }) => `<th scope="col" role="columnheader">${this.parser.parseInline(tokens)}</th>`,
      );
      const columns = header.map(({ tokens }) => tokens.map(plainText).join(''));
      const body = rows.map((cells) => {
        const html = cells.map(({ tokens }, at) => {
          return `<td role="cell" data-column="${escapeHtml(columns[at] ?? '')}">${this.parser.parseInline(tokens)}</td>`;
        });
        return `<tr role="row">${html.join('')}</tr>`;
      });
      return `<div class="table" role="region" aria-label="Table" tabindex="0"><table role="table"><thead role="rowgroup"><tr role="row">${head.join('')}</tr></thead><tbody role="rowgroup">${body.join('\n')}</tbody></table></div>\n`;
    },
    link({ href, title, tokens }) {
      insideLink = true;
      const html = this.parser.parseInline(tokens);
      insideLink = false;
      const target = resolveLink(href, source);
      if (!target) return html;
      if ('file' in target) return inRepository(html, target.file);
      const attributes = title ? ` title="${escapeHtml(title)}"` : '';
      const rel = /^https?:/.test(target.href) ? ' rel="noreferrer"' : '';
      return `<a href="${escapeHtml(target.href)}"${attributes}${rel}>${html}</a>`;
    },
    /** In the repository an address of the site can only be named; here it can be followed. */
    codespan({ text }) {
      const classes = [
        ...(text.length > WORD_MAX ? ['long'] : []),
        ...(text.length > COMMAND_MAX ? ['command'] : []),
      ];
      const attribute = classes.length > 0 ? ` class="${classes.join(' ')}"` : '';
      const code = `<code${attribute}>${escapeHtml(text)}</code>`;
      return isServed(text) && !insideLink ? `<a href="${text}">${code}</a>` : code;
    },
    /** Remarks are for whoever edits the file; other markup is shown as what it is, text. */
    html({ text }) {
      return escapeHtml(text.replaceAll(/<!--[\s\S]*?-->/g, ''));
    },
    /** A list to tick off on paper. */
    checkbox({ checked }) {
      return `<span class="tick" aria-hidden="true">${checked ? '☑' : '☐'}</span>`;
    },
    image({ text: alternative }) {
      return escapeHtml(alternative);
    },
  };
}

/** A reader of the site may not have the repository at hand: what a link there leads to is said in words. */
function inRepository(html: string, file: string): string {
  const path = escapeHtml(file);
  const name = file.split('/').findLast(Boolean) ?? file;
  return html.includes(escapeHtml(name))
    ? `<span class="repository" data-file="${path}">${html}</span>`
    : `<span class="repository" data-file="${path}">${html} (<code>${path}</code> in the repository)</span>`;
}

/** As GitHub does it, so that a link works in both places. */
function nameHeadings(tokens: Token[]): Heading[] {
  const taken = new Map<string, number>();
  return tokens.filter(isHeading).map((token) => {
    const slug = plainText(token)
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-');
    const count = taken.get(slug) ?? 0;
    taken.set(slug, count + 1);
    token.id = count === 0 ? slug : `${slug}-${count}`;
    return asHeading(token);
  });
}

function isHeading(token: Token): token is HeadingToken {
  return token.type === 'heading';
}

function asHeading(token: HeadingToken): Heading {
  return { level: token.depth, id: token.id, text: plainText(token) };
}

/** The words first and the code after them, so that a result of the search shows words where it can. */
function passagesOf(tokens: Token[]): Passage[] {
  const passages: { heading: Heading; words: string[]; code: string[] }[] = [];
  for (const token of tokens) {
    const passage = passages.at(-1);
    if (isHeading(token)) passages.push({ heading: asHeading(token), words: [], code: [] });
    else if (token.type === 'code') passage?.code.push(token.text);
    else if (token.type !== 'html') passage?.words.push(plainText(token));
  }
  return passages.map(({ heading, words, code }) => ({
    heading,
    text: [...words, ...code].join(' ').replaceAll(/\s+/g, ' ').trim(),
  }));
}

function plainText(token: Token): string {
  const { type, tokens, text = '', items, header, rows } = token as Tokens.Generic;
  const inner: Token[] | undefined = type === 'table' ? [...header, ...rows.flat()] : (items ?? tokens);
  if (inner) return inner.map(plainText).join(isBlock(token) ? ' ' : '');
  return type === 'space' || type === 'br' ? ' ' : text;
}

function isBlock({ type }: Token): boolean {
  return ['table', 'list', 'list_item', 'blockquote'].includes(type);
}

/** Neighbouring blocks that each have a tab title are the same example in several languages. */
function withTabs(tokens: Token[]): Token[] {
  const result: Token[] = [];
  for (const token of tokens) {
    if (token.type === 'space') continue;
    if (token.type === 'list') for (const item of token.items) item.tokens = withTabs(item.tokens);
    const block = token.type === 'code' ? { text: token.text, fence: readFence(token.lang) } : undefined;
    const previous = result.at(-1);
    if (!block?.fence.tab) result.push(token);
    else if (previous?.type === 'tabs') (previous as TabsToken).blocks.push(block);
    else result.push({ type: 'tabs', raw: token.raw, blocks: [block] });
  }
  return result;
}

function tabs({ blocks }: TabsToken): string {
  const panels = blocks.map(({ text, fence }) => `<div class="panel">${codeBlock(text, fence)}</div>`);
  return `<div class="tabs">${panels.join('')}</div>\n`;
}
