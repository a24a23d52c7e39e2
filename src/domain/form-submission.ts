import type { OpeningHours } from '../contract/operator/practice-groups.ts';
import { isOpen, type LocalTime } from './local-time.ts';

interface SubmissionTypeState {
  suspended: boolean;
  in_hours: boolean;
  out_of_hours: boolean;
  daily_limit: number | null;
}

export interface Refusal {
  rule: 'suspended' | 'outside_hours' | 'daily_limit_reached';
  message: string;
}

/** Whether a submission type takes one more form at this moment. */
export function refusalOfForm(
  type: SubmissionTypeState,
  submittedToday: number,
  hours: OpeningHours,
  local: LocalTime,
): Refusal | undefined {
  if (type.suspended) return { rule: 'suspended', message: 'The submission type is suspended.' };
  const open = isOpen(hours, local);
  if (open ? !type.in_hours : !type.out_of_hours) {
    return {
      rule: 'outside_hours',
      message: open
        ? 'The submission type takes nothing during opening hours.'
        : 'The submission type takes nothing outside opening hours.',
    };
  }
  if (type.daily_limit !== null && submittedToday >= type.daily_limit) {
    return {
      rule: 'daily_limit_reached',
      message: `The submission type takes ${type.daily_limit} forms a day, and they have been sent.`,
    };
  }
  return undefined;
}
