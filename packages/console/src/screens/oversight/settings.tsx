import { useSession } from '../../frame/session.ts';
import { Facts, Page } from '../../parts/page.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { Approvals } from '../access/settings-approvals.tsx';
import { Operators } from '../access/settings-operators.tsx';
import { Sessions } from '../access/settings-sessions.tsx';
import { Nodes, SettingsInForce, SigningKeys } from './settings-deployment.tsx';

/** Who works here, with what rights, and how this deployment runs. */
export function Settings() {
  const { environment, version, operator, support_contact } = useSession();
  return (
    <Page title="Settings">
      <Facts
        of={{
          Environment: environment,
          Version: version,
          You: `${operator.name}, ${operator.role}`,
          'Partners turn to': support_contact,
        }}
      />
      <Tabs
        of={[
          { id: 'operators', title: 'Operators', content: () => <Operators /> },
          { id: 'approvals', title: 'Approvals', content: () => <Approvals /> },
          { id: 'sessions', title: 'Sessions', content: () => <Sessions /> },
          { id: 'nodes', title: 'Nodes', content: () => <Nodes /> },
          { id: 'in-force', title: 'Settings in force', content: () => <SettingsInForce /> },
          { id: 'signing', title: 'Signing keys', content: () => <SigningKeys /> },
        ]}
      />
    </Page>
  );
}
