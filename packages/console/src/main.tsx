import './styles/console.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { type AnyRoute, RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/client.ts';
import { router } from './frame/router.tsx';

const element = document.getElementById('root');
if (!element) throw new Error('index.html has no place for the console');

// What the address leads to is fetched while the service is asked who it is.
const routes: Partial<Record<string, AnyRoute>> = router.routesById;
for (const { routeId } of router.matchRoutes(router.latestLocation)) {
  const route = routes[routeId];
  void (route && router.loadRouteChunk(route)?.catch(() => undefined));
}

createRoot(element).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
