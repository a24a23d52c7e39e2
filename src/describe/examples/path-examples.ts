import type { Endpoint } from '../../contract/endpoint.ts';

/** What the demo world has, by what it is called in a path: a reader's first try of an operation finds something. */
const inDemoWorld: Record<string, string> = {
  'practice group': 'riverside-surgery',
  'submission type': 'symptoms',
  form: 'new-symptom',
  'assignee type': 'AdminTeam',
  assignee: 'front-desk',
  partner: 'prt_demo',
};

/** What nobody should do to the demo world without meaning to, and steps that what is there has behind it. */
const withoutExample = new Set([
  'signAgreement',
  'verifyPartner',
  'suspendPartner',
  'putWriteThrough',
  'getWriteThrough',
]);

export function pathExampleOf({ operationId, method, path }: Endpoint, name: string): string | undefined {
  if (method === 'DELETE' || withoutExample.has(operationId)) return undefined;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, one = '']) => inDemoWorld[nounOf(path, one)]);
  // With one of two it would be no better: nothing is found.
  return names.every(Boolean) ? inDemoWorld[nounOf(path, name)] : undefined;
}

/** `/networks/{id}` takes the ID of a network, and `{practice_group_id}` says itself what it is. */
export function nounOf(path: string, name: string): string {
  const noun =
    name === 'id' ? path.split('/{id}')[0]?.split('/').at(-1)?.replace(/s$/, '') : name.replace(/_id$/, '');
  return (noun ?? name).replaceAll(/[-_]/g, ' ');
}
