import { lazyRouteComponent } from '@tanstack/react-router';
import { GuestFrame } from './guest-frame.tsx';
import type { Place } from './places.ts';
import type { Screen } from './screen.ts';

/** What people of a practice see who were invited. */

const places: readonly Place[] = [{ title: 'My practice', to: '/my-practice', key: 'h' }];

export const PracticeFrame = () => <GuestFrame places={places} />;

export const practiceScreens: readonly Screen[] = [
  ['/my-practice', lazyRouteComponent(() => import('../screens/my-practice/home.tsx'), 'Home')],
  [
    '/my-practice/partners/$id',
    lazyRouteComponent(() => import('../screens/my-practice/partner.tsx'), 'Partner'),
  ],
];
