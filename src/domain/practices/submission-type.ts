import type { SubmissionType, SubmissionTypePatch } from '../../contract/partner/submission-types.ts';
import type { submissionTypeRules } from '../../contract/rules.ts';

/** A submission type as it is stored: `version` counts its changes and is its ETag. */
export type StoredSubmissionType = Omit<SubmissionType, 'forms_submitted_today'> & {
  practice_group_id: string;
  version: number;
};

/** What a new one is, where nothing is said. */
export const submissionTypeDefaults = {
  form_id: null,
  description: null,
  in_hours: true,
  out_of_hours: true,
  suspended: false,
  external_url: null,
  external_url_name: null,
  type: null,
  default_priority: 'medium',
  daily_limit: null,
  patient_eligibility_check: false,
  assignee_id: null,
  assignee_type: null,
  order: null,
} as const satisfies Partial<StoredSubmissionType>;

/** What the group's directory knows of the things that a patch points to. */
export interface Directory {
  hasForm(formId: string): boolean;
  hasAssignee(type: string, id: string): boolean;
}

type Rule = (typeof submissionTypeRules)[number];

export type PatchResult =
  | { outcome: 'unchanged' }
  | {
      outcome: 'changed';
      next: StoredSubmissionType;
      changed: (keyof SubmissionTypePatch)[];
      before: Changes;
      after: Changes;
    }
  | { outcome: 'refused'; rule: Rule };

type Changes = Record<string, unknown>;

/**
 * Applies a merge patch: fields that the patch leaves out stay, null clears. A patch that changes no value changes
 * nothing at all, `updated_at` included.
 */
export function applyPatch(
  current: StoredSubmissionType,
  patch: SubmissionTypePatch,
  directory: Directory,
  now: string,
): PatchResult {
  const merged = { ...current, ...patch } as StoredSubmissionType;
  const rule = brokenRule(merged, patch, directory);
  if (rule) return { outcome: 'refused', rule };

  const named = Object.keys(patch) as (keyof SubmissionTypePatch)[];
  const changed = named.filter((field) => current[field] !== merged[field]);
  if (changed.length === 0) return { outcome: 'unchanged' };
  const before: Changes = {};
  const after: Changes = {};
  for (const field of changed) {
    before[field] = current[field];
    after[field] = merged[field];
  }
  merged.version = current.version + 1;
  merged.updated_at = now;
  return { outcome: 'changed', next: merged, changed, before, after };
}

/** The four rules, on the merged result. A rule speaks only when the request touches one of its fields. */
export function brokenRule(
  merged: Pick<
    SubmissionType,
    'assignee_id' | 'assignee_type' | 'form_id' | 'external_url' | 'external_url_name'
  >,
  touched: SubmissionTypePatch,
  directory: Directory,
): Rule | undefined {
  if ('assignee_id' in touched || 'assignee_type' in touched) {
    if ((merged.assignee_id === null) !== (merged.assignee_type === null)) {
      return 'assignee_pair';
    }
    if (
      merged.assignee_id !== null &&
      merged.assignee_type !== null &&
      !directory.hasAssignee(merged.assignee_type, merged.assignee_id)
    ) {
      return 'assignee_unknown';
    }
  }
  if ('form_id' in touched && merged.form_id !== null && !directory.hasForm(merged.form_id)) {
    return 'form_unknown';
  }
  if (
    ('external_url' in touched || 'external_url_name' in touched) &&
    merged.external_url_name !== null &&
    merged.external_url === null
  ) {
    return 'external_url_name_without_url';
  }
  return undefined;
}
