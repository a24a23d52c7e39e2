import { endpointsOf } from '../endpoint.ts';
import * as account from './account.ts';
import * as events from './events.ts';
import * as live from './live.ts';
import * as traffic from './traffic.ts';

/** Every operation for portal users that covers all keys of their partner. */
export const portalEndpoints = endpointsOf(account, traffic, live);

/** The operations that a portal user calls with one key of the partner, and a program does not. */
export const namedKeyEndpoints = endpointsOf(events);
