import type { OpeningHours } from '../../contract/operator/practices/practice-groups.ts';
import { isOpen, type LocalTime } from './local-time.ts';

/** What speaks against one more form of a submission type, in the order in which it is told. */
export const markNames = ['over_limit', 'suspended', 'outside_hours'] as const;

export type Mark = (typeof markNames)[number];

interface SubmissionTypeState {
  suspended: boolean;
  in_hours: boolean;
  out_of_hours: boolean;
  daily_limit: number | null;
}

/**
 * What speaks against one more form at this moment. Asked before, it says whether the form may be offered; asked of a form that was sent, how
 * it is marked: one function, so that the two cannot disagree.
 */
export function marksOf(
  type: SubmissionTypeState,
  submittedToday: number,
  hours: OpeningHours,
  local: LocalTime,
): Record<Mark, boolean> {
  return {
    over_limit: type.daily_limit !== null && submittedToday >= type.daily_limit,
    suspended: type.suspended,
    outside_hours: isOpen(hours, local) ? !type.in_hours : !type.out_of_hours,
  };
}

/** How many more forms the day has room for; null: there is no cap. */
export function remainingToday(
  { daily_limit }: Pick<SubmissionTypeState, 'daily_limit'>,
  submittedToday: number,
): number | null {
  return daily_limit === null ? null : Math.max(0, daily_limit - submittedToday);
}
