import type { Endpoint } from '../contract/endpoint.ts';
import { operatorEndpoints } from '../contract/operator/index.ts';
import { partnerEndpoints } from '../contract/partner/index.ts';
import { errorEntries } from '../describe/error-catalogue.ts';
import { type Entry, sectionOf } from './contents.ts';
import type { Page } from './markdown.ts';
import { operationAddress } from './reference.ts';

/** Something that the search can find, and where it is. */
interface Finding {
  url: string;
  title: string;
  /** Where it stands: the section of the contents and the page, or the kind of thing it is. */
  place: string;
  text: string;
  /** How much sooner it is shown than what fits as well. */
  weight: number;
  /** Shown after everything that is for partners. */
  forOperators: boolean;
}

/** Who asks wants to know how before what exactly, and is a partner as a rule: there are more of them. */
const WEIGHTS: Record<string, number> = {
  'Getting started': 3,
  Guides: 3,
  Tools: 2.5,
  Reference: 2,
  Errors: 1.5,
  'Partner API': 1.5,
  'Operating Porter': 1,
  'Operator API': 0.5,
};
const weightOf = (section: string) => ({
  weight: WEIGHTS[section] ?? 1,
  forOperators: ['Operating Porter', 'Operator API'].includes(section),
});

export function findings(pages: readonly { entry: Entry; page: Page }[]): Finding[] {
  return [
    ...pages.flatMap(({ entry, page }) => passages(entry, page)),
    ...errorEntries().map(({ code, status, message, cause, remedy }) => ({
      url: `/docs/errors/${code}`,
      title: code,
      place: `Error ${status}`,
      text: `${message} ${cause} ${remedy}`.replaceAll('`', ''),
      ...weightOf('Errors'),
    })),
    ...operations('/docs/api', 'Partner API', partnerEndpoints),
    ...operations('/docs/operator-api', 'Operator API', operatorEndpoints),
  ];
}

function passages({ path }: Entry, page: Page): Finding[] {
  const section = sectionOf(path) ?? '';
  const weight = weightOf(section);
  return page.passages.map(({ heading: { level, id, text: title }, text }) =>
    level === 1
      ? { url: path, title, place: section, text, ...weight }
      : { url: `${path}#${id}`, title, place: `${section} › ${page.title}`, text, ...weight },
  );
}

function operations(page: string, place: string, endpoints: Record<string, Endpoint>): Finding[] {
  return Object.values(endpoints).map((endpoint) => {
    const { operationId, method, path, summary, description = '' } = endpoint;
    return {
      url: operationAddress(page, endpoint),
      title: summary,
      place,
      text: `${method} ${path} ${operationId} ${description}`.replaceAll('`', ''),
      ...weightOf(place),
    };
  });
}
