import { listPracticeGroups } from './practice-groups.ts';
import { getSubmissionType, listSubmissionTypes, updateSubmissionType } from './submission-types.ts';

/** Every operation that a partner can call. */
export const partnerEndpoints = {
  listPracticeGroups,
  listSubmissionTypes,
  getSubmissionType,
  updateSubmissionType,
} as const;
