import { useQuery } from '@tanstack/react-query';
import { one } from '../../api/client.ts';
import type { Change } from '../../api/generated.ts';

export const submissionTypeOf = ({ practice_group_id, object_id }: Change) =>
  one('getGroupSubmissionType', { params: { id: practice_group_id, submission_type_id: object_id } });

/** By its title; by its ID until that is known, or if it is gone. */
export function SubmissionTypeName({ of: change }: { of: Change }) {
  const { data } = useQuery(submissionTypeOf(change));
  return data ? <bdi>{data.title}</bdi> : <code>{change.object_id}</code>;
}
