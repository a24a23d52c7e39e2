import { lazyRouteComponent } from '@tanstack/react-router';
import type { Screen } from './screen.ts';

/** What people of a practice see who were invited. */

export const practiceScreens: readonly Screen[] = [
  ['/my-practice', lazyRouteComponent(() => import('../screens/my-practice/home.tsx'), 'Home')],
  [
    '/my-practice/partners/$id',
    lazyRouteComponent(() => import('../screens/my-practice/partner.tsx'), 'Partner'),
  ],
];
