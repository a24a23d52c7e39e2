import * as agreements from './access/agreements.ts';
import * as approvals from './access/approvals.ts';
import * as contacts from './access/contacts.ts';
import * as invitations from './access/invitations.ts';
import * as keys from './access/keys.ts';
import * as leakedKeys from './access/leaked-keys.ts';
import { previewNetwork } from './access/network-preview.ts';
import * as networks from './access/networks.ts';
import * as operators from './access/operators.ts';
import * as partners from './access/partners.ts';
import * as sessions from './access/sessions.ts';
import * as stops from './access/stops.ts';
import * as deliveries from './events/deliveries.ts';
import { getEventLife } from './events/event-life.ts';
import * as events from './events/events.ts';
import * as signingKeys from './events/signing-keys.ts';
import * as subscriptions from './events/subscriptions.ts';
import * as webhooks from './events/webhooks.ts';
import * as accessLog from './oversight/access-log.ts';
import * as alerts from './oversight/alerts.ts';
import { getAttention } from './oversight/attention.ts';
import * as audit from './oversight/audit.ts';
import * as deployment from './oversight/deployment.ts';
import * as erasures from './oversight/erasures.ts';
import * as figures from './oversight/figures.ts';
import { explainRequest } from './oversight/request-explanation.ts';
import * as requests from './oversight/requests.ts';
import { search } from './oversight/search.ts';
import { getSla } from './oversight/sla.ts';
import { listPartnerUsage } from './oversight/usage.ts';
import * as changes from './practices/changes.ts';
import * as directory from './practices/directory.ts';
import * as ehrHealth from './practices/ehr-health.ts';
import * as formSubmissions from './practices/form-submissions.ts';
import { importItems } from './practices/import.ts';
import * as practiceGroups from './practices/practice-groups.ts';
import { reconcileItems } from './practices/reconcile.ts';
import * as submissionTypes from './practices/submission-types.ts';
import * as writeThrough from './practices/write-through.ts';
import * as writeToRecordJobs from './practices/write-to-record-jobs.ts';

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
