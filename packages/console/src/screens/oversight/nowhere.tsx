import { Page } from '../../parts/page.tsx';

export function Nowhere() {
  return (
    <Page title="There is no such page">
      <p>The address may be cut off. Search for what you want with / or pick a room from the menu.</p>
    </Page>
  );
}
