export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

export interface Heading {
  level: number;
  id: string;
  text: string;
}

/** What stands in the middle of a page; the frame around it is the same for all. */
export interface Article {
  title: string;
  html: string;
  /** For the table of contents beside it. */
  headings: readonly Heading[];
}

/** A heading that can be linked to. The link is for the pointer: the table of contents has the same one for everybody. */
export function heading({ level, id }: Heading, html: string): string {
  return `<h${level} id="${id}">${html} <a class="anchor" href="#${id}" aria-hidden="true" tabindex="-1">#</a></h${level}>\n`;
}
