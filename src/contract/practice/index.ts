import { endpointsOf } from '../endpoint.ts';
import * as live from './live.ts';
import * as partners from './partners.ts';

/** Every operation that practice users can call. */
export const practiceEndpoints = endpointsOf(partners, live);
