import { listOwnAgreements } from './agreements.ts';
import { listAlerts } from './alerts.ts';
import { listSubmissionTypeChanges } from './changes.ts';
import { listOwnContacts, updateOwnContact } from './contacts.ts';
import * as events from './events.ts';
import { getMe } from './me.ts';
import { listPracticeGroups } from './practice-groups.ts';
import { getRefusedRequest } from './requests.ts';
import { getSubmissionType, listSubmissionTypes, updateSubmissionType } from './submission-types.ts';
import { listUsage } from './usage.ts';
import * as deliveries from './webhook-deliveries.ts';
import * as webhooks from './webhooks.ts';

/** Every operation that a partner can call. */
export const partnerEndpoints = {
  listPracticeGroups,
  listSubmissionTypes,
  getSubmissionType,
  updateSubmissionType,
  listSubmissionTypeChanges,
  createWebhook: webhooks.createWebhook,
  listWebhooks: webhooks.listWebhooks,
  getWebhook: webhooks.getWebhook,
  updateWebhook: webhooks.updateWebhook,
  deleteWebhook: webhooks.deleteWebhook,
  rotateWebhookSecret: webhooks.rotateWebhookSecret,
  testWebhook: webhooks.testWebhook,
  listWebhookDeliveries: deliveries.listWebhookDeliveries,
  getWebhookDelivery: deliveries.getWebhookDelivery,
  replayWebhook: deliveries.replayWebhook,
  listEvents: events.listEvents,
  streamEvents: events.streamEvents,
  triggerTestEvent: events.triggerTestEvent,
  getRefusedRequest,
  getMe,
  listOwnAgreements,
  listUsage,
  listAlerts,
  listOwnContacts,
  updateOwnContact,
} as const;
