import * as account from './account.ts';
import { streamPortalLive } from './live.ts';
import * as traffic from './traffic.ts';

/** Every operation for people of a partner who were invited: what lies across the partner's keys. */
export const portalEndpoints = {
  getPortalHome: account.getPortalHome,
  listPortalKeys: account.listPortalKeys,
  getPortalKey: account.getPortalKey,
  listPortalPractices: account.listPortalPractices,
  listPortalAgreements: account.listPortalAgreements,
  getPortalSla: account.getPortalSla,
  listPortalContacts: account.listPortalContacts,
  updatePortalContact: account.updatePortalContact,
  getPortalStatus: account.getPortalStatus,
  listPortalWebhooks: traffic.listPortalWebhooks,
  getPortalWebhook: traffic.getPortalWebhook,
  checkPortalAddress: traffic.checkPortalAddress,
  listPortalRefusals: traffic.listPortalRefusals,
  listPortalAlerts: traffic.listPortalAlerts,
  streamPortalLive,
} as const;

/** What they do with one of the partner's keys, and programs do not. */
export const namedKeyEndpoints = { listPortalEvents: traffic.listPortalEvents } as const;
