import {
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  lazyRouteComponent,
  notFound,
  Outlet,
  type ParsedLocation,
  redirect,
} from '@tanstack/react-router';
import { isStatus, queryClient } from '../api/client.ts';
import { Failure } from '../parts/failure.tsx';
import { Page } from '../parts/page.tsx';
import { homes, type Me, me } from './me.ts';
import { partnerScreens } from './partner-routes.ts';
import { practiceScreens } from './practice-routes.ts';
import type { Screen } from './screen.ts';
import { session } from './session.ts';

/** Every screen has an address, and every filter is in it. A screen's code is fetched when it is first opened. */

const root = createRootRoute({
  component: Outlet,
  errorComponent: ({ error }) => <Failure error={error} retry={() => location.reload()} />,
  notFoundComponent: () => (
    <main>
      <Page title="There is no such page">
        <p>
          The address may be cut off, or be one that you may not see.{' '}
          <Link to="/">Go to your first page</Link>.
        </p>
      </Page>
    </main>
  ),
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: (search: Record<string, unknown>) => ({
    to: typeof search.to === 'string' ? search.to : '/',
  }),
  component: lazyRouteComponent(() => import('../screens/access/sign-in.tsx'), 'SignIn'),
});

const enter = createRoute({
  getParentRoute: () => root,
  path: '/enter',
  component: lazyRouteComponent(() => import('../screens/access/enter.tsx'), 'Enter'),
});

/** One of the three applications. Whoever it is not for finds nothing there, and is led from the first page to their own. */
function application(kind: Me['kind'], component: ReturnType<typeof lazyRouteComponent>) {
  return createRoute({
    getParentRoute: () => root,
    id: kind,
    component,
    beforeLoad: async ({ location }) => {
      const found = (await whoIsThere(location)).kind;
      if (found === kind)
        return kind === 'operator' ? void (await queryClient.ensureQueryData(session)) : undefined;
      if (location.pathname === '/') throw redirect({ to: homes[found], replace: true });
      throw notFound();
    },
  });
}

async function whoIsThere({ publicHref }: ParsedLocation): Promise<Me> {
  try {
    return await queryClient.ensureQueryData(me);
  } catch (error) {
    if (isStatus(error, 401)) throw redirect({ to: '/sign-in', search: { to: publicHref } });
    throw error;
  }
}

const operator = application(
  'operator',
  lazyRouteComponent(() => import('./operator-frame.tsx'), 'OperatorFrame'),
);
const partner = application(
  'partner',
  lazyRouteComponent(() => import('./partner-frame.tsx'), 'PartnerFrame'),
);
const practice = application(
  'practice',
  lazyRouteComponent(() => import('./practice-frame.tsx'), 'PracticeFrame'),
);

const below = (parent: ReturnType<typeof application>, screens: readonly Screen[]) =>
  screens.map(([path, component]) => createRoute({ getParentRoute: () => parent, path, component }));

const screen = <const P extends string>(path: P, component: ReturnType<typeof lazyRouteComponent>) =>
  createRoute({ getParentRoute: () => operator, path, component });

const screens = [
  screen(
    '/',
    lazyRouteComponent(() => import('../screens/oversight/now.tsx'), 'Now'),
  ),
  screen(
    '/partners',
    lazyRouteComponent(() => import('../screens/access/partners.tsx'), 'Partners'),
  ),
  screen(
    '/webhooks',
    lazyRouteComponent(() => import('../screens/events/webhooks.tsx'), 'Webhooks'),
  ),
  screen(
    '/webhooks/$id',
    lazyRouteComponent(() => import('../screens/events/webhook.tsx'), 'Webhook'),
  ),
  screen(
    '/deliveries/$id',
    lazyRouteComponent(() => import('../screens/events/delivery.tsx'), 'Delivery'),
  ),
  screen(
    '/refused',
    lazyRouteComponent(() => import('../screens/oversight/refused-calls.tsx'), 'RefusedCalls'),
  ),
  screen(
    '/refused/$id',
    lazyRouteComponent(() => import('../screens/oversight/refused-call.tsx'), 'RefusedCall'),
  ),
  screen(
    '/changes',
    lazyRouteComponent(() => import('../screens/practices/changes.tsx'), 'Changes'),
  ),
  screen(
    '/changes/$id',
    lazyRouteComponent(() => import('../screens/practices/change.tsx'), 'Change'),
  ),
  screen(
    '/alerts',
    lazyRouteComponent(() => import('../screens/oversight/alerts.tsx'), 'Alerts'),
  ),
  screen(
    '/alerts/$id',
    lazyRouteComponent(() => import('../screens/oversight/alert.tsx'), 'Alert'),
  ),
  screen(
    '/subscriptions',
    lazyRouteComponent(() => import('../screens/events/subscriptions.tsx'), 'Subscriptions'),
  ),
  screen(
    '/subscriptions/$id',
    lazyRouteComponent(() => import('../screens/events/subscription.tsx'), 'Subscription'),
  ),
  screen(
    '/events',
    lazyRouteComponent(() => import('../screens/events/events.tsx'), 'Events'),
  ),
  screen(
    '/events/$id',
    lazyRouteComponent(() => import('../screens/events/event.tsx'), 'Event'),
  ),
  screen(
    '/networks',
    lazyRouteComponent(() => import('../screens/access/networks.tsx'), 'Networks'),
  ),
  screen(
    '/networks/new',
    lazyRouteComponent(() => import('../screens/access/network.tsx'), 'NewNetwork'),
  ),
  screen(
    '/networks/$id',
    lazyRouteComponent(() => import('../screens/access/network.tsx'), 'Network'),
  ),
  screen(
    '/partners/$id',
    lazyRouteComponent(() => import('../screens/access/partner.tsx'), 'Partner'),
  ),
  screen(
    '/partners/$id/issue',
    lazyRouteComponent(() => import('../screens/access/issue-key.tsx'), 'IssueKey'),
  ),
  screen(
    '/partners/$id/issue-many',
    lazyRouteComponent(() => import('../screens/access/issue-keys.tsx'), 'IssueKeys'),
  ),
  screen(
    '/keys',
    lazyRouteComponent(() => import('../screens/access/keys.tsx'), 'Keys'),
  ),
  screen(
    '/keys/$id',
    lazyRouteComponent(() => import('../screens/access/key.tsx'), 'Key'),
  ),
  screen(
    '/practices',
    lazyRouteComponent(() => import('../screens/practices/practices.tsx'), 'Practices'),
  ),
  screen(
    '/practices/$id',
    lazyRouteComponent(() => import('../screens/practices/practice.tsx'), 'Practice'),
  ),
  screen(
    '/audit',
    lazyRouteComponent(() => import('../screens/oversight/audit.tsx'), 'Audit'),
  ),
  screen(
    '/audit/$seq',
    lazyRouteComponent(() => import('../screens/oversight/audit-entry.tsx'), 'AuditEntry'),
  ),
  screen(
    '/settings',
    lazyRouteComponent(() => import('../screens/oversight/settings.tsx'), 'Settings'),
  ),
  screen(
    '/$',
    lazyRouteComponent(() => import('../screens/oversight/nowhere.tsx'), 'Nowhere'),
  ),
];

/** Filters are plain text in the address: `?status=failed`, never quoted or in JSON. */
const parseSearch = (text: string) => Object.fromEntries(new URLSearchParams(text));
const stringifySearch = (search: Record<string, unknown>) => {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text && `?${text}`;
};

export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    enter,
    operator.addChildren(screens),
    partner.addChildren(below(partner, partnerScreens)),
    practice.addChildren(below(practice, practiceScreens)),
  ]),
  basepath: '/console',
  defaultPreload: 'intent',
  scrollRestoration: true,
  parseSearch,
  stringifySearch,
});
