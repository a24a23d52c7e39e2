import type { operatorEndpoints } from '../contract/operator/index.ts';
import type { partnerEndpoints } from '../contract/partner/index.ts';
import type { namedKeyEndpoints, portalEndpoints } from '../contract/portal/index.ts';
import type { practiceEndpoints } from '../contract/practice/index.ts';
import type {
  OperatorPrincipal,
  PartnerPrincipal,
  PortalPrincipal,
  PracticePrincipal,
} from '../domain/access/principal.ts';
import * as agreements from './access/agreements.ts';
import * as approvals from './access/approvals.ts';
import * as contacts from './access/contacts.ts';
import * as invitations from './access/invitations.ts';
import * as keys from './access/keys.ts';
import { reportLeakedKeys } from './access/leaked-keys.ts';
import { getMe } from './access/me.ts';
import { previewNetwork } from './access/network-preview.ts';
import * as networks from './access/networks.ts';
import * as operators from './access/operators.ts';
import * as partners from './access/partners.ts';
import * as portalAccount from './access/portal-account.ts';
import * as portalTraffic from './access/portal-traffic.ts';
import * as reachingPartners from './access/reaching-partners.ts';
import * as sessions from './access/sessions.ts';
import * as stops from './access/stops.ts';
import type { Handlers } from './app.ts';
import * as deliveries from './events/deliveries.ts';
import { listEvents, streamEvents } from './events/event-feed.ts';
import { getEventLife } from './events/event-life.ts';
import * as events from './events/events.ts';
import { publishEvents } from './events/published-lines.ts';
import * as signingKeys from './events/signing-keys.ts';
import * as subscriptions from './events/subscriptions.ts';
import * as testEvents from './events/test-events.ts';
import * as webhookDeliveries from './events/webhook-deliveries.ts';
import { rotateWebhookSecret } from './events/webhook-secrets.ts';
import * as webhooks from './events/webhooks.ts';
import * as accessLog from './oversight/access-log.ts';
import * as alerts from './oversight/alerts.ts';
import { getAttention } from './oversight/attention.ts';
import * as audit from './oversight/audit.ts';
import * as deployment from './oversight/deployment.ts';
import * as erasures from './oversight/erasures.ts';
import * as figures from './oversight/figures.ts';
import { explainRequest } from './oversight/request-explanation.ts';
import { getRefusedRequest, listRefusedRequests } from './oversight/requests.ts';
import { search } from './oversight/search.ts';
import { getSla } from './oversight/sla.ts';
import { listPartnerUsage, listUsage } from './oversight/usage.ts';
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

/** Which function carries out which operation. An operation without one does not compile. */
export const partnerHandlers: Handlers<typeof partnerEndpoints, PartnerPrincipal> = {
  listPracticeGroups: practiceGroups.listPracticeGroups,
  listSubmissionTypes: submissionTypes.listSubmissionTypes,
  getSubmissionType: submissionTypes.getSubmissionType,
  updateSubmissionType: submissionTypes.updateSubmissionType,
  listSubmissionTypeChanges: changes.listSubmissionTypeChanges,
  createWebhook: webhooks.createWebhook,
  listWebhooks: webhooks.listWebhooks,
  getWebhook: webhooks.getWebhook,
  updateWebhook: webhooks.updateWebhook,
  deleteWebhook: webhooks.deleteWebhook,
  rotateWebhookSecret,
  testWebhook: testEvents.testWebhook,
  listWebhookDeliveries: webhookDeliveries.listWebhookDeliveries,
  getWebhookDelivery: webhookDeliveries.getWebhookDelivery,
  replayWebhook: webhookDeliveries.replayWebhook,
  listEvents,
  streamEvents,
  triggerTestEvent: testEvents.triggerTestEvent,
  getRefusedRequest,
  getMe,
  listOwnAgreements: agreements.listOwnAgreements,
  listUsage,
  listAlerts: alerts.listAlerts,
  listOwnContacts: contacts.listOwnContacts,
  updateOwnContact: contacts.updateOwnContact,
};

export const portalHandlers: Handlers<typeof portalEndpoints, PortalPrincipal> = {
  getPortalHome: portalAccount.getPortalHome,
  listPortalKeys: portalAccount.listPortalKeys,
  getPortalKey: portalAccount.getPortalKey,
  listPortalPractices: portalAccount.listPortalPractices,
  listPortalAgreements: portalAccount.listPortalAgreements,
  getPortalSla: portalAccount.getPortalSla,
  listPortalContacts: portalAccount.listPortalContacts,
  updatePortalContact: portalAccount.updatePortalContact,
  getPortalStatus: portalAccount.getPortalStatus,
  listPortalWebhooks: portalTraffic.listPortalWebhooks,
  getPortalWebhook: portalTraffic.getPortalWebhook,
  checkPortalAddress: portalTraffic.checkPortalAddress,
  listPortalRefusals: portalTraffic.listPortalRefusals,
  listPortalAlerts: portalTraffic.listPortalAlerts,
  streamPortalLive: portalTraffic.streamPortalLive,
};

export const namedKeyHandlers: Handlers<typeof namedKeyEndpoints, PartnerPrincipal> = {
  listPortalEvents: portalTraffic.listPortalEvents,
};

export const operatorHandlers: Handlers<typeof operatorEndpoints, OperatorPrincipal> = {
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
  signAgreement: agreements.signAgreement,
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
  reportLeakedKeys,
  createSubmissionType: submissionTypes.createSubmissionType,
  listGroupSubmissionTypes: submissionTypes.listGroupSubmissionTypes,
  getGroupSubmissionType: submissionTypes.getGroupSubmissionType,
  updateGroupSubmissionType: submissionTypes.updateGroupSubmissionType,
  deleteSubmissionType: submissionTypes.deleteSubmissionType,
  getAvailability: formSubmissions.getAvailability,
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
  listRefusedRequests,
  explainRequest,
  publishEvents,
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
  listAllWebhooks: webhooks.listAllWebhooks,
  getPartnerWebhook: webhooks.getPartnerWebhook,
  updatePartnerWebhook: webhooks.updatePartnerWebhook,
  deletePartnerWebhook: webhooks.deletePartnerWebhook,
  replayPartnerWebhook: webhookDeliveries.replayPartnerWebhook,
  listWebhookAttempts: deliveries.listWebhookAttempts,
  retryFailedDeliveries: webhookDeliveries.retryFailedDeliveries,
  getWebhookHealth: figures.getWebhookHealth,
  listDeliveries: deliveries.listDeliveries,
  getDelivery: deliveries.getDelivery,
  retryDelivery: deliveries.retryDelivery,
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
};

export const practiceHandlers: Handlers<typeof practiceEndpoints, PracticePrincipal> = {
  listReachingPartners: reachingPartners.listReachingPartners,
  getReachingPartner: reachingPartners.getReachingPartner,
  listPartnerActivity: reachingPartners.listPartnerActivity,
  stopPartner: stops.stopPartner,
  resumePartner: stops.resumePartner,
  streamPracticeLive: reachingPartners.streamPracticeLive,
};
