import { endpointsOf } from '../endpoint.ts';
import * as agreements from './agreements.ts';
import * as alerts from './alerts.ts';
import * as changes from './changes.ts';
import * as contacts from './contacts.ts';
import * as events from './events.ts';
import * as me from './me.ts';
import * as practiceGroups from './practice-groups.ts';
import * as requests from './requests.ts';
import * as submissionTypes from './submission-types.ts';
import * as usage from './usage.ts';
import * as webhookDeliveries from './webhook-deliveries.ts';
import * as webhooks from './webhooks.ts';

/** Every operation that a partner can call. */
export const partnerEndpoints = endpointsOf(
  practiceGroups,
  submissionTypes,
  changes,
  webhooks,
  webhookDeliveries,
  events,
  requests,
  me,
  agreements,
  usage,
  alerts,
  contacts,
);
