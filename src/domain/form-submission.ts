import type { OpeningHours } from '../contract/operator/practice-groups.ts';
import type { RuleName } from '../contract/rules.ts';
import { isOpen, type LocalTime } from './local-time.ts';

interface SubmissionTypeState {
  suspended: boolean;
  in_hours: boolean;
  out_of_hours: boolean;
  daily_limit: number | null;
}

/** The rule that keeps a submission type from taking one more form at this moment, if any. */
export function refusalOfForm(
  type: SubmissionTypeState,
  submittedToday: number,
  hours: OpeningHours,
  local: LocalTime,
): RuleName | undefined {
  if (type.suspended) return 'suspended';
  if (isOpen(hours, local) ? !type.in_hours : !type.out_of_hours) return 'outside_hours';
  if (type.daily_limit !== null && submittedToday >= type.daily_limit) return 'daily_limit_reached';
  return undefined;
}
