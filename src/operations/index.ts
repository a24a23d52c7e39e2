import type { Endpoint } from '../contract/endpoint.ts';
import * as agreements from './access/agreements.ts';
import * as approvals from './access/approvals.ts';
import * as contacts from './access/contacts.ts';
import * as invitations from './access/invitations.ts';
import * as keys from './access/keys.ts';
import * as leakedKeys from './access/leaked-keys.ts';
import * as me from './access/me.ts';
import * as networkPreview from './access/network-preview.ts';
import * as networks from './access/networks.ts';
import * as operators from './access/operators.ts';
import * as partners from './access/partners.ts';
import * as portalAccount from './access/portal-account.ts';
import * as portalTraffic from './access/portal-traffic.ts';
import * as reachingPartners from './access/reaching-partners.ts';
import * as sessions from './access/sessions.ts';
import * as stops from './access/stops.ts';
import { isOperation, type Operation } from './app.ts';
import * as deliveries from './events/deliveries.ts';
import * as eventFeed from './events/event-feed.ts';
import * as eventLife from './events/event-life.ts';
import * as events from './events/events.ts';
import * as publishedLines from './events/published-lines.ts';
import * as signingKeys from './events/signing-keys.ts';
import * as subscriptions from './events/subscriptions.ts';
import * as testEvents from './events/test-events.ts';
import * as webhookDeliveries from './events/webhook-deliveries.ts';
import * as webhookSecrets from './events/webhook-secrets.ts';
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

/** Every operation of these modules, by its endpoint. */
const operations: ReadonlyMap<Endpoint, Operation> = new Map(
  [
    agreements,
    approvals,
    contacts,
    invitations,
    keys,
    leakedKeys,
    me,
    networkPreview,
    networks,
    operators,
    partners,
    portalAccount,
    portalTraffic,
    reachingPartners,
    sessions,
    stops,
    deliveries,
    eventFeed,
    eventLife,
    events,
    publishedLines,
    signingKeys,
    subscriptions,
    testEvents,
    webhookDeliveries,
    webhookSecrets,
    webhooks,
    accessLog,
    alerts,
    attention,
    audit,
    deployment,
    erasures,
    figures,
    requestExplanation,
    requests,
    search,
    sla,
    usage,
    changes,
    directory,
    ehrHealth,
    formSubmissions,
    imports,
    practiceGroups,
    reconcile,
    submissionTypes,
    writeThrough,
    writeToRecordJobs,
  ]
    .flatMap((module) => Object.values<unknown>(module))
    .filter(isOperation)
    .map((operation) => [operation.endpoint, operation]),
);

export function operationOf(endpoint: Endpoint): Operation {
  const operation = operations.get(endpoint);
  if (!operation) throw new Error(`${endpoint.operationId} has no operation in src/operations.`);
  return operation;
}
