import { GuestFrame } from './guest-frame.tsx';
import type { Place } from './places.ts';

/** Around the pages of a practice. */

const places: readonly Place[] = [{ title: 'My practice', to: '/my-practice', key: 'h' }];

export const PracticeFrame = () => <GuestFrame places={places} />;
