import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import http from 'highlight.js/lib/languages/http';
import ini from 'highlight.js/lib/languages/ini';
import json from 'highlight.js/lib/languages/json';
import nginx from 'highlight.js/lib/languages/nginx';
import python from 'highlight.js/lib/languages/python';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import yaml from 'highlight.js/lib/languages/yaml';
import { escapeHtml } from './html.ts';
import { withPlaceholders } from './placeholders.ts';

const languages = { bash, dockerfile, http, ini, json, nginx, python, sql, typescript, yaml };
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language);
hljs.registerAliases(['console', 'shell'], { languageName: 'bash' });
hljs.registerAliases(['js', 'javascript'], { languageName: 'typescript' });

/** Where the library's name for a language is not what readers call it. */
const LABELS: Record<string, string> = { Bash: 'Shell', 'TOML, also INI': 'INI', 'Nginx config': 'nginx' };

/** What a fenced block says of itself after the backticks: ```` ```ts tab="TypeScript" ````, ```` ```json output ```` or ```` ```sh fixed ````. */
export interface Fence {
  language: string;
  tab: string | undefined;
  output: boolean;
  /** Nothing may be filled in: a signature covers what is there. */
  fixed: boolean;
}

export function readFence(info = ''): Fence {
  const [language = '', ...rest] = info.trim().split(/\s+/);
  return {
    language,
    tab: /\btab="([^"]+)"/.exec(info)?.[1],
    output: rest.includes('output'),
    fixed: rest.includes('fixed'),
  };
}

export function codeBlock(text: string, { language, tab, output, fixed }: Fence): string {
  const name = hljs.getLanguage(language)?.name;
  const highlighted = name ? hljs.highlight(text, { language }).value : escapeHtml(text);
  const label = output ? (name ? 'Answer' : 'Output') : (tab ?? (name && (LABELS[name] ?? name)));
  const caption = label ? `<figcaption>${escapeHtml(label)}</figcaption>` : '';
  // An answer is an example; only what the reader sends is about the reader.
  const html = output || fixed ? highlighted : withPlaceholders(highlighted);
  return `<figure class="code${output ? ' output' : ''}">${caption}<pre tabindex="0"><code>${html}</code></pre></figure>\n`;
}
