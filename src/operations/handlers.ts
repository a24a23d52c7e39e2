import type { operatorEndpoints } from '../contract/operator/index.ts';
import type { partnerEndpoints } from '../contract/partner/index.ts';
import type { OperatorPrincipal, PartnerPrincipal } from '../domain/principal.ts';
import type { Handlers } from './app.ts';
import * as audit from './audit.ts';
import * as directory from './directory.ts';
import * as formSubmissions from './form-submissions.ts';
import * as keys from './keys.ts';
import * as networks from './networks.ts';
import * as operators from './operators.ts';
import * as partners from './partners.ts';
import * as practiceGroups from './practice-groups.ts';
import * as submissionTypes from './submission-types.ts';

/** Which function carries out which operation. An operation without one does not compile. */
export const partnerHandlers: Handlers<typeof partnerEndpoints, PartnerPrincipal> = {
  listPracticeGroups: practiceGroups.listPracticeGroups,
  listSubmissionTypes: submissionTypes.listSubmissionTypes,
  getSubmissionType: submissionTypes.getSubmissionType,
  updateSubmissionType: submissionTypes.updateSubmissionType,
};

export const operatorHandlers: Handlers<typeof operatorEndpoints, OperatorPrincipal> = {
  createPracticeGroup: practiceGroups.createPracticeGroup,
  listAllPracticeGroups: practiceGroups.listAllPracticeGroups,
  getPracticeGroup: practiceGroups.getPracticeGroup,
  updatePracticeGroup: practiceGroups.updatePracticeGroup,
  createNetwork: networks.createNetwork,
  listNetworks: networks.listNetworks,
  getNetwork: networks.getNetwork,
  deleteNetwork: networks.deleteNetwork,
  addNetworkMember: networks.addNetworkMember,
  removeNetworkMember: networks.removeNetworkMember,
  createPartner: partners.createPartner,
  listPartners: partners.listPartners,
  getPartner: partners.getPartner,
  signAgreement: partners.signAgreement,
  verifyPartner: partners.verifyPartner,
  suspendPartner: partners.suspendPartner,
  issueKey: keys.issueKey,
  listKeys: keys.listKeys,
  getKey: keys.getKey,
  rotateKey: keys.rotateKey,
  revokeKey: keys.revokeKey,
  createSubmissionType: submissionTypes.createSubmissionType,
  listGroupSubmissionTypes: submissionTypes.listGroupSubmissionTypes,
  getGroupSubmissionType: submissionTypes.getGroupSubmissionType,
  putForm: directory.putForm,
  listForms: directory.listForms,
  getForm: directory.getForm,
  putAssignee: directory.putAssignee,
  listAssignees: directory.listAssignees,
  getAssignee: directory.getAssignee,
  createFormSubmission: formSubmissions.createFormSubmission,
  listFormSubmissions: formSubmissions.listFormSubmissions,
  getFormSubmission: formSubmissions.getFormSubmission,
  createOperator: operators.createOperator,
  listOperators: operators.listOperators,
  getOperator: operators.getOperator,
  revokeOperator: operators.revokeOperator,
  listAudit: audit.listAudit,
  getAuditEntry: audit.getAuditEntry,
  verifyAudit: audit.verifyAudit,
};
