import { endpointsOf } from '../endpoint.ts';
import * as agreements from './access/agreements.ts';
import * as approvals from './access/approvals.ts';
import * as contacts from './access/contacts.ts';
import * as invitations from './access/invitations.ts';
import * as keys from './access/keys.ts';
import * as leakedKeys from './access/leaked-keys.ts';
import * as networkPreview from './access/network-preview.ts';
import * as networks from './access/networks.ts';
import * as operators from './access/operators.ts';
import * as partners from './access/partners.ts';
import * as sessions from './access/sessions.ts';
import * as stops from './access/stops.ts';
import * as deliveries from './events/deliveries.ts';
import * as eventLife from './events/event-life.ts';
import * as events from './events/events.ts';
import * as signingKeys from './events/signing-keys.ts';
import * as subscriptions from './events/subscriptions.ts';
import * as webhooks from './events/webhooks.ts';
import * as accessLog from './oversight/access-log.ts';
import * as alerts from './oversight/alerts.ts';
import * as attention from './oversight/attention.ts';
import * as audit from './oversight/audit.ts';
import * as deployment from './oversight/deployment.ts';
import * as erasures from './oversight/erasures.ts';
import * as figures from './oversight/figures.ts';
import * as requestExplanation from './oversight/request-explanation.ts';
import * as requests from './oversight/requests.ts';
import * as search from './oversight/search.ts';
import * as sla from './oversight/sla.ts';
import * as usage from './oversight/usage.ts';
import * as changes from './practices/changes.ts';
import * as directory from './practices/directory.ts';
import * as ehrHealth from './practices/ehr-health.ts';
import * as formSubmissions from './practices/form-submissions.ts';
import * as imports from './practices/import.ts';
import * as practiceGroups from './practices/practice-groups.ts';
import * as reconcile from './practices/reconcile.ts';
import * as submissionTypes from './practices/submission-types.ts';
import * as writeThrough from './practices/write-through.ts';
import * as writeToRecordJobs from './practices/write-to-record-jobs.ts';

/** Every operation of the operator API. */
export const operatorEndpoints = endpointsOf(
  practiceGroups,
  networks,
  networkPreview,
  partners,
  agreements,
  keys,
  leakedKeys,
  submissionTypes,
  directory,
  imports,
  reconcile,
  formSubmissions,
  webhooks,
  figures,
  deliveries,
  requests,
  requestExplanation,
  events,
  eventLife,
  ehrHealth,
  writeToRecordJobs,
  changes,
  writeThrough,
  subscriptions,
  usage,
  sla,
  signingKeys,
  operators,
  approvals,
  invitations,
  stops,
  sessions,
  audit,
  accessLog,
  alerts,
  attention,
  contacts,
  erasures,
  search,
  deployment,
);

export type OperatorOperationId = keyof typeof operatorEndpoints;
