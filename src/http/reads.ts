import type { Endpoint, Read } from '../contract/endpoint.ts';
import type { OperatorPrincipal, PartnerPrincipal } from '../domain/access/principal.ts';
import type { App } from '../operations/app.ts';

interface Call {
  params?: unknown;
  query?: unknown;
}

type Note = (principal: PartnerPrincipal | OperatorPrincipal, call: Call, result: object) => void;

/**
 * What notes the reads of an endpoint in the access log; undefined for one that changes something, which the audit tells. By itself it
 * takes the practice group from the call and the object from the path: `/operator/v1/keys/{id}` reads one of the `keys`.
 */
export function readNoter(
  accessLog: App['accessLog'],
  { method, path, operationId, response }: Endpoint,
): Note | undefined {
  // What a stream sends is noted as it is sent.
  if (method !== 'GET' || response.stream) return undefined;
  const [, object, objectParam] = /\/([^/]+)\/\{(\w+)\}$/.exec(path) ?? [];
  const ofGroup = path.startsWith('/operator/v1/practice-groups/{id}');
  return (principal, call, result) => {
    const told = (result as { read?: readonly Read[] }).read;
    if (told) {
      for (const read of told) accessLog.add(principal, operationId, read);
      return;
    }
    const params = call.params as Record<string, string> | undefined;
    const practiceGroupId =
      principal.kind === 'partner'
        ? principal.group.id
        : ofGroup
          ? params?.id
          : (call.query as { practice_group_id?: string } | undefined)?.practice_group_id;
    const objectId = objectParam && params?.[objectParam];
    accessLog.add(principal, operationId, { practiceGroupId, object, objectId, isOfSettings: true });
  };
}
