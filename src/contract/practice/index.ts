import { streamPracticeLive } from './live.ts';
import * as partners from './partners.ts';

/** Every operation that people of a practice can call, signed in to the console by an invitation. */
export const practiceEndpoints = {
  listReachingPartners: partners.listReachingPartners,
  getReachingPartner: partners.getReachingPartner,
  listPartnerActivity: partners.listPartnerActivity,
  stopPartner: partners.stopPartner,
  resumePartner: partners.resumePartner,
  streamPracticeLive,
} as const;
