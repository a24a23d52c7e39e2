import { Button } from 'react-aria-components/Button';
import { PorterApiError } from '../../../sdk/src/errors.ts';

/** Why a call was refused, in the words of the service, with what to do next and the request to quote. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  return (
    <div className="failure" role="alert">
      <p>{toSentence(error)}</p>
      <UsedBy error={error} />
      {error instanceof PorterApiError && error.requestId && (
        <p className="soft">
          Request <code>{error.requestId}</code>
        </p>
      )}
      {retry && <Button onPress={retry}>Try again</Button>}
    </div>
  );
}

/** What stands in the way of a removal. */
function UsedBy({ error }: { error: unknown }) {
  const used =
    error instanceof PorterApiError && 'used_by' in error.problem ? error.problem.used_by : undefined;
  if (!Array.isArray(used)) return null;
  return (
    <ul>
      {used.map(({ type, count, ids }) => (
        <li key={type}>
          {count} {type.replaceAll('_', ' ')}
          {count === 1 ? '' : 's'}: {ids.join(', ')}
          {count > ids.length && ' …'}
        </li>
      ))}
    </ul>
  );
}

export function toSentence(error: unknown): string {
  if (error instanceof PorterApiError) {
    const { problem, status } = error;
    if (status === 403 && 'required_roles' in problem)
      return 'Your role does not allow this. Ask an admin, who finds roles under Settings.';
    if (problem.error === true) return problem.message.map(({ message }) => message).join(' ');
    return problem.message;
  }
  return 'The service does not answer. What you typed is kept: try again in a moment.';
}

interface Entry {
  path: readonly (string | number)[];
  message: string;
}

/** Everything that the service says about a field: what is not valid, or the rule that is broken. */
export function fieldEntries(error: unknown): readonly Entry[] {
  if (!(error instanceof PorterApiError)) return [];
  const { problem } = error;
  if (problem.error === true) return problem.message;
  return problem.error === 'business_rule_violation' && problem.path
    ? [{ path: problem.path, message: problem.message }]
    : [];
}
