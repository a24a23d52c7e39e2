import type { Command } from '../command.ts';
import { agreementCommands } from './access/agreements.ts';
import { approvalCommands } from './access/approvals.ts';
import { keyCommands } from './access/keys.ts';
import { networkCommands } from './access/networks.ts';
import { operatorCommands } from './access/operators.ts';
import { partnerCommands } from './access/partners.ts';
import { deliveryCommands } from './events/deliveries.ts';
import { eventCommands } from './events/events.ts';
import { listenCommand } from './events/listen.ts';
import { publishedEventCommands } from './events/published.ts';
import { resendCommand } from './events/resend.ts';
import { triggerCommand } from './events/trigger.ts';
import { verifyCommand } from './events/verify.ts';
import { webhookCommands } from './events/webhooks.ts';
import { meCommands } from './me.ts';
import { alertsCommand } from './oversight/alerts.ts';
import { auditCommands } from './oversight/audit.ts';
import { refusalCommands } from './oversight/refusals.ts';
import { slaCommand } from './oversight/sla.ts';
import { statusCommand } from './oversight/status.ts';
import { usageCommand } from './oversight/usage.ts';
import { changeCommands } from './practices/changes.ts';
import { groupCommands } from './practices/groups.ts';
import { importCommands } from './practices/import.ts';
import { typeCommands } from './practices/types.ts';
import { profileCommands } from './profiles.ts';
import { shellCommands } from './shell.ts';

/** All that talk to a service over HTTP, in the order in which the help lists them. */
export const clientCommands: readonly Command[] = [
  statusCommand,
  ...profileCommands,
  ...shellCommands,
  ...meCommands,
  usageCommand,
  ...typeCommands,
  listenCommand,
  triggerCommand,
  resendCommand,
  verifyCommand,
  ...partnerCommands,
  ...agreementCommands,
  slaCommand,
  ...keyCommands,
  ...groupCommands,
  ...networkCommands,
  ...approvalCommands,
  ...importCommands,
  ...eventCommands,
  ...publishedEventCommands,
  ...webhookCommands,
  ...deliveryCommands,
  ...changeCommands,
  ...refusalCommands,
  alertsCommand,
  ...auditCommands,
  ...operatorCommands,
];
