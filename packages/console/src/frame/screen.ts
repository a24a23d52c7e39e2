import type { lazyRouteComponent } from '@tanstack/react-router';

/** A path below /console, and what is shown there; its code is fetched when it is first opened. */
export type Screen = readonly [path: string, component: ReturnType<typeof lazyRouteComponent>];
