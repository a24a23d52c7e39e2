import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { one } from '../api/client.ts';
import { Frame } from './frame.tsx';
import { type Concerned, useLive } from './live.ts';
import { MeMenu } from './me-menu.tsx';
import { places } from './places.ts';
import { Search } from './search.tsx';
import { useSession } from './session.ts';

const concerned: Concerned = {
  alerts: ['getAttention', 'listAllAlerts', 'getAlert', 'listStops'],
  webhooks: [
    'getAttention',
    'listAllWebhooks',
    'getPartnerWebhook',
    'listWebhookAttempts',
    'listDeliveries',
    'getDelivery',
    'getEventLife',
  ],
  figures: ['getFigures', 'getWebhookHealth', 'listPublishedEvents'],
  changes: ['getAttention', 'listLatestChanges', 'getChange', 'getWriteThrough'],
  approvals: ['getAttention', 'listApprovals'],
  partners: [
    'listPartners',
    'listStops',
    'getPartner',
    'listKeys',
    'getKey',
    'listAllPracticeGroups',
    'getPracticeGroup',
    'listNetworks',
    'getNetwork',
  ],
  nodes: ['listNodes'],
};

/** Around the screens of operators: the search box and the alerts, too. */
export function OperatorFrame() {
  const [isSearching, setSearching] = useState(false);
  const openSearch = useCallback(() => setSearching(true), []);
  const { environment } = useSession();
  useLive('streamLive', concerned);
  return (
    <Frame
      environment={environment}
      places={places}
      openSearch={openSearch}
      tools={
        <>
          <Button className="find" onPress={openSearch} aria-keyshortcuts="/ Control+K Meta+K">
            <svg viewBox="0 0 24 24" aria-hidden="true">
              <circle cx="11" cy="11" r="6.5" />
              <path d="m20 20-4.3-4.3" />
            </svg>
            <span>Paste an ID, a name, a URL…</span>
            <kbd>/</kbd>
          </Button>
          <OpenAlerts />
        </>
      }
      me={<Operator />}
    >
      <Search isOpen={isSearching} setOpen={setSearching} />
    </Frame>
  );
}

const NO_ALERTS = ['deliveries_given_up', 'approval_pending'];

/** Counted from what every console asks for, which costs the service no more for a thousand of them. */
function OpenAlerts() {
  const { data } = useQuery(one('getAttention', {}));
  const alerts = data?.data.filter(({ kind }) => !NO_ALERTS.includes(kind)) ?? [];
  const count = alerts.reduce((sum, group) => sum + group.count, 0);
  if (count === 0) return null;
  return (
    <Link to="/alerts" className="alerts">
      {count} <span>{count === 1 ? 'alert' : 'alerts'}</span>
    </Link>
  );
}

function Operator() {
  const { operator } = useSession();
  const navigate = useNavigate();
  return (
    <MeMenu
      name={operator.name}
      what={operator.role}
      page={{ title: 'Sessions and settings', open: () => void navigate({ to: '/settings' }) }}
    />
  );
}
