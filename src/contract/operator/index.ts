import * as accessLog from './access-log.ts';
import * as agreements from './agreements.ts';
import * as alerts from './alerts.ts';
import * as approvals from './approvals.ts';
import { getAttention } from './attention.ts';
import * as audit from './audit.ts';
import * as changes from './changes.ts';
import * as contacts from './contacts.ts';
import * as deliveries from './deliveries.ts';
import * as deployment from './deployment.ts';
import * as directory from './directory.ts';
import * as ehrHealth from './ehr-health.ts';
import * as erasures from './erasures.ts';
import { getEventLife } from './event-life.ts';
import * as events from './events.ts';
import * as figures from './figures.ts';
import * as formSubmissions from './form-submissions.ts';
import { importItems } from './import.ts';
import * as invitations from './invitations.ts';
import * as keys from './keys.ts';
import * as leakedKeys from './leaked-keys.ts';
import { previewNetwork } from './network-preview.ts';
import * as networks from './networks.ts';
import * as operators from './operators.ts';
import * as partners from './partners.ts';
import * as practiceGroups from './practice-groups.ts';
import { reconcileItems } from './reconcile.ts';
import { explainRequest } from './request-explanation.ts';
import * as requests from './requests.ts';
import { search } from './search.ts';
import * as sessions from './sessions.ts';
import * as signingKeys from './signing-keys.ts';
import { getSla } from './sla.ts';
import * as stops from './stops.ts';
import * as submissionTypes from './submission-types.ts';
import * as subscriptions from './subscriptions.ts';
import { listPartnerUsage } from './usage.ts';
import * as webhooks from './webhooks.ts';
import * as writeThrough from './write-through.ts';
import * as writeToRecordJobs from './write-to-record-jobs.ts';

/** Every operation of the operator API. */
export const operatorEndpoints = {
  createPracticeGroup: practiceGroups.createPracticeGroup,
  listAllPracticeGroups: practiceGroups.listAllPracticeGroups,
  getPracticeGroup: practiceGroups.getPracticeGroup,
  updatePracticeGroup: practiceGroups.updatePracticeGroup,
  deletePracticeGroup: practiceGroups.deletePracticeGroup,
  createNetwork: networks.createNetwork,
  listNetworks: networks.listNetworks,
  getNetwork: networks.getNetwork,
  updateNetwork: networks.updateNetwork,
  deleteNetwork: networks.deleteNetwork,
  addNetworkMember: networks.addNetworkMember,
  removeNetworkMember: networks.removeNetworkMember,
  previewNetwork,
  createPartner: partners.createPartner,
  listPartners: partners.listPartners,
  getPartner: partners.getPartner,
  updatePartner: partners.updatePartner,
  signAgreement: partners.signAgreement,
  verifyPartner: partners.verifyPartner,
  suspendPartner: partners.suspendPartner,
  createAgreement: agreements.createAgreement,
  listAgreements: agreements.listAgreements,
  getAgreement: agreements.getAgreement,
  updateAgreement: agreements.updateAgreement,
  issueKey: keys.issueKey,
  issueKeys: keys.issueKeys,
  listKeys: keys.listKeys,
  getKey: keys.getKey,
  updateKey: keys.updateKey,
  rotateKey: keys.rotateKey,
  revokeKey: keys.revokeKey,
  reportLeakedKeys: leakedKeys.reportLeakedKeys,
  createSubmissionType: submissionTypes.createSubmissionType,
  listGroupSubmissionTypes: submissionTypes.listGroupSubmissionTypes,
  getGroupSubmissionType: submissionTypes.getGroupSubmissionType,
  updateGroupSubmissionType: submissionTypes.updateGroupSubmissionType,
  deleteSubmissionType: submissionTypes.deleteSubmissionType,
  getAvailability: submissionTypes.getAvailability,
  putForm: directory.putForm,
  listForms: directory.listForms,
  getForm: directory.getForm,
  deleteForm: directory.deleteForm,
  putAssignee: directory.putAssignee,
  listAssignees: directory.listAssignees,
  getAssignee: directory.getAssignee,
  deleteAssignee: directory.deleteAssignee,
  importItems,
  reconcileItems,
  createFormSubmission: formSubmissions.createFormSubmission,
  listFormSubmissions: formSubmissions.listFormSubmissions,
  getFormSubmission: formSubmissions.getFormSubmission,
  listAllWebhooks: webhooks.listAllWebhooks,
  getPartnerWebhook: webhooks.getPartnerWebhook,
  updatePartnerWebhook: webhooks.updatePartnerWebhook,
  deletePartnerWebhook: webhooks.deletePartnerWebhook,
  replayPartnerWebhook: webhooks.replayPartnerWebhook,
  listWebhookAttempts: webhooks.listWebhookAttempts,
  retryFailedDeliveries: webhooks.retryFailedDeliveries,
  getWebhookHealth: figures.getWebhookHealth,
  listDeliveries: deliveries.listDeliveries,
  getDelivery: deliveries.getDelivery,
  retryDelivery: deliveries.retryDelivery,
  listRefusedRequests: requests.listRefusedRequests,
  explainRequest,
  publishEvents: events.publishEvents,
  listPublishedEvents: events.listPublishedEvents,
  getPublishedEvent: events.getPublishedEvent,
  getEventLife,
  reportEhrHealth: ehrHealth.reportEhrHealth,
  getEhrHealth: ehrHealth.getEhrHealth,
  createWriteToRecordJob: writeToRecordJobs.createWriteToRecordJob,
  listWriteToRecordJobs: writeToRecordJobs.listWriteToRecordJobs,
  getWriteToRecordJob: writeToRecordJobs.getWriteToRecordJob,
  succeedWriteToRecordJob: writeToRecordJobs.succeedWriteToRecordJob,
  failWriteToRecordJob: writeToRecordJobs.failWriteToRecordJob,
  listChanges: changes.listChanges,
  listLatestChanges: changes.listLatestChanges,
  streamChanges: changes.streamChanges,
  getChange: changes.getChange,
  reportChangeApplied: changes.reportChangeApplied,
  reportChangeRejected: changes.reportChangeRejected,
  putWriteThrough: writeThrough.putWriteThrough,
  getWriteThrough: writeThrough.getWriteThrough,
  deleteWriteThrough: writeThrough.deleteWriteThrough,
  createSubscription: subscriptions.createSubscription,
  listSubscriptions: subscriptions.listSubscriptions,
  getSubscription: subscriptions.getSubscription,
  updateSubscription: subscriptions.updateSubscription,
  deleteSubscription: subscriptions.deleteSubscription,
  rotateSubscriptionSecret: subscriptions.rotateSubscriptionSecret,
  testSubscription: subscriptions.testSubscription,
  listSubscriptionDeliveries: subscriptions.listSubscriptionDeliveries,
  getSubscriptionDelivery: subscriptions.getSubscriptionDelivery,
  replaySubscription: subscriptions.replaySubscription,
  listPartnerUsage,
  getFigures: figures.getFigures,
  getSla,
  listSigningKeys: signingKeys.listSigningKeys,
  rotateSigningKey: signingKeys.rotateSigningKey,
  createOperator: operators.createOperator,
  listOperators: operators.listOperators,
  getOperator: operators.getOperator,
  updateOperator: operators.updateOperator,
  revokeOperator: operators.revokeOperator,
  listApprovals: approvals.listApprovals,
  getApproval: approvals.getApproval,
  approveApproval: approvals.approveApproval,
  declineApproval: approvals.declineApproval,
  collectApproval: approvals.collectApproval,
  createPartnerInvitation: invitations.createPartnerInvitation,
  createPracticeInvitation: invitations.createPracticeInvitation,
  listStops: stops.listStops,
  liftStop: stops.liftStop,
  listInvitations: invitations.listInvitations,
  withdrawInvitation: invitations.withdrawInvitation,
  getOperatorMe: sessions.getOperatorMe,
  listSessions: sessions.listSessions,
  revokeOwnSessions: sessions.revokeOwnSessions,
  revokeSession: sessions.revokeSession,
  listAudit: audit.listAudit,
  getAuditEntry: audit.getAuditEntry,
  getAuditAnchor: audit.getAuditAnchor,
  verifyAudit: audit.verifyAudit,
  listAccessLog: accessLog.listAccessLog,
  exportAccessLog: accessLog.exportAccessLog,
  listAllAlerts: alerts.listAllAlerts,
  getAlert: alerts.getAlert,
  remindOfAlert: alerts.remindOfAlert,
  getAttention,
  createPartnerContact: contacts.createPartnerContact,
  listPartnerContacts: contacts.listPartnerContacts,
  getPartnerContact: contacts.getPartnerContact,
  updatePartnerContact: contacts.updatePartnerContact,
  deletePartnerContact: contacts.deletePartnerContact,
  createContact: contacts.createContact,
  listContacts: contacts.listContacts,
  getContact: contacts.getContact,
  updateContact: contacts.updateContact,
  deleteContact: contacts.deleteContact,
  createErasure: erasures.createErasure,
  listErasures: erasures.listErasures,
  getErasure: erasures.getErasure,
  search,
  listSettings: deployment.listSettings,
  listNodes: deployment.listNodes,
  streamLive: deployment.streamLive,
} as const;

export type OperatorOperationId = keyof typeof operatorEndpoints;
