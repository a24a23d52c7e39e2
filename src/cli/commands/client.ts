import type { Command } from '../command.ts';
import { agreementCommands } from './agreements.ts';
import { alertsCommand } from './alerts.ts';
import { approvalCommands } from './approvals.ts';
import { auditCommands } from './audit.ts';
import { changeCommands } from './changes.ts';
import { deliveryCommands } from './deliveries.ts';
import { eventCommands } from './events.ts';
import { groupCommands } from './groups.ts';
import { importCommands } from './import.ts';
import { keyCommands } from './keys.ts';
import { listenCommand } from './listen.ts';
import { meCommands } from './me.ts';
import { networkCommands } from './networks.ts';
import { operatorCommands } from './operators.ts';
import { partnerCommands } from './partners.ts';
import { profileCommands } from './profiles.ts';
import { publishedEventCommands } from './published.ts';
import { refusalCommands } from './refusals.ts';
import { resendCommand } from './resend.ts';
import { shellCommands } from './shell.ts';
import { slaCommand } from './sla.ts';
import { statusCommand } from './status.ts';
import { triggerCommand } from './trigger.ts';
import { typeCommands } from './types.ts';
import { usageCommand } from './usage.ts';
import { verifyCommand } from './verify.ts';
import { webhookCommands } from './webhooks.ts';

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
