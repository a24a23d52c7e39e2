import type { Operation } from '../api/client.ts';
import { GuestFrame } from './guest-frame.tsx';
import type { Concerned } from './live.ts';
import type { Place } from './places.ts';

/** Around the pages of a practice. */

const places: readonly Place[] = [{ title: 'My practice', to: '/my-practice', key: 'h' }];

const concerned: Concerned = {
  partners: ['listReachingPartners', 'getReachingPartner'],
  activity: ['listReachingPartners', 'getReachingPartner', 'listPartnerActivity'],
};

/** What is on its way to a partner, and arrives. */
const untold: readonly Operation[] = ['getReachingPartner'];

export const PracticeFrame = () => (
  <GuestFrame places={places} stream="streamPracticeLive" concerned={concerned} untold={untold} />
);
