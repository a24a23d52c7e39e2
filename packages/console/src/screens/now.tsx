import { Page } from '../parts/page.tsx';

export function Now() {
  return (
    <Page title="Now">
      <p>What needs you now.</p>
    </Page>
  );
}
