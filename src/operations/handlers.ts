import type { operatorEndpoints } from '../contract/operator/index.ts';
import type { partnerEndpoints } from '../contract/partner/index.ts';
import type { namedKeyEndpoints, portalEndpoints } from '../contract/portal/index.ts';
import type { practiceEndpoints } from '../contract/practice/index.ts';
import type {
  OperatorPrincipal,
  PartnerPrincipal,
  PortalPrincipal,
  PracticePrincipal,
} from '../domain/principal.ts';
import * as accessLog from './access-log.ts';
import * as agreements from './agreements.ts';
import * as alerts from './alerts.ts';
import type { Handlers } from './app.ts';
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
import { listEvents, streamEvents } from './event-feed.ts';
import { getEventLife } from './event-life.ts';
import * as events from './events.ts';
import * as figures from './figures.ts';
import * as formSubmissions from './form-submissions.ts';
import { importItems } from './import.ts';
import * as invitations from './invitations.ts';
import * as keys from './keys.ts';
import { reportLeakedKeys } from './leaked-keys.ts';
import { getMe } from './me.ts';
import { previewNetwork } from './network-preview.ts';
import * as networks from './networks.ts';
import * as operators from './operators.ts';
import * as partners from './partners.ts';
import * as portalAccount from './portal-account.ts';
import * as portalTraffic from './portal-traffic.ts';
import * as practiceGroups from './practice-groups.ts';
import { publishEvents } from './published-lines.ts';
import * as reachingPartners from './reaching-partners.ts';
import { reconcileItems } from './reconcile.ts';
import { explainRequest } from './request-explanation.ts';
import { getRefusedRequest, listRefusedRequests } from './requests.ts';
import { search } from './search.ts';
import * as sessions from './sessions.ts';
import * as signingKeys from './signing-keys.ts';
import { getSla } from './sla.ts';
import * as stops from './stops.ts';
import * as submissionTypes from './submission-types.ts';
import * as subscriptions from './subscriptions.ts';
import * as testEvents from './test-events.ts';
import { listPartnerUsage, listUsage } from './usage.ts';
import * as webhookDeliveries from './webhook-deliveries.ts';
import { rotateWebhookSecret } from './webhook-secrets.ts';
import * as webhooks from './webhooks.ts';
import * as writeThrough from './write-through.ts';
import * as writeToRecordJobs from './write-to-record-jobs.ts';

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
