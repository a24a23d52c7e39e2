import { DEFAULT_RATE_LIMIT, RATE_WINDOW_SECONDS } from '../contract/access.ts';

/** What a reader needs before the first call. Markdown, shown at the top of each document. */

const extensions = `## Extensions

Everything with \`x-extension: true\` goes beyond the published specification. Deleting every such node leaves exactly what
is specified: \`/docs/specified/openapi.json\`. New optional fields and operations may appear under \`/v1\`; nothing there is removed or changes its meaning.`;

export const partnerIntroduction = `Work on behalf of healthcare practice groups: read them, update the submission types
that care navigation handles, and receive events about what happens in them.

## Authentication

Each call carries two headers over HTTPS: \`x-api-key\`, your secret, and \`x-practice-group-id\`, the practice group that you
act for. That may be the group your key is tied to, or another one that shares a network with it. Each operation names the
scope that the key needs.

## Limits

A key may make ${DEFAULT_RATE_LIMIT} requests in any ${RATE_WINDOW_SECONDS} seconds unless another figure was agreed. \`RateLimit\` on every answer tells how many are
left. After a 429, wait for \`Retry-After\` and back off exponentially.

## Errors

A 400 lists every problem of the request. All other refusals carry a stable code in \`error\`, the \`request_id\` to quote to
support, and in \`doc_url\` a page that says what to do. \`GET /v1/requests/{request_id}\` tells of a refused call afterwards.

${extensions}`;

export const practiceIntroduction = `For the pages of practices in the console: people of a practice who were invited see which partners reach it and what these did
there, and stop one. It is reached by the session of the console alone, and each call sends \`x-porter-console: 1\`. A call that
changes something also sends \`Origin\`, the origin of the service, as browsers do.`;

export const operatorIntroduction = `For whoever runs the service: onboard partners, create practice groups and networks, issue and revoke keys, and publish
events. None of it is part of the published partner specification.

Send an operator's token as \`Authorization: Bearer …\`. Each token has one role, and each operation names the roles that it is
open to. Errors look as they do on the partner API.`;

export const portalIntroduction = `What the console asks on behalf of people of a partner who were invited. Operations under \`/v1\` are those of
the partner API: somebody of a partner does them, and \`/portal/v1/events\`, with one of the partner's keys, which the header \`x-porter-key\` names by its ID, and for the
practice group in \`x-practice-group-id\`. It is reached by the session of the console alone, and each call sends \`x-porter-console: 1\`. A call that
changes something also sends \`Origin\`, the origin of the service, as browsers do.`;
