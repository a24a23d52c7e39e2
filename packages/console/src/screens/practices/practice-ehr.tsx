import { useQuery } from '@tanstack/react-query';
import { one, useChange } from '../../api/client.ts';
import type { OperatorPracticeGroup } from '../../api/generated.ts';
import { useMay } from '../../frame/session.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Banner } from '../../parts/page.tsx';
import { State } from '../../parts/state.tsx';
import { Lasting, When } from '../../parts/when.tsx';

type Status = OperatorPracticeGroup['ehr_status'];

export function EhrState({ of: status }: { of: Status }) {
  if (status === 'healthy') return <State kind="fine">healthy</State>;
  if (status === 'unhealthy') return <State kind="failing">unhealthy</State>;
  return <State kind="stopped">not reported</State>;
}

const words: Record<Status, ['fine' | 'failing' | 'stopped', string]> = {
  healthy: ['fine', 'The connection to the health record works.'],
  unhealthy: ['failing', 'The connection to the health record is down.'],
  unknown: ['stopped', 'Nobody has reported yet whether the connection to the health record works.'],
};

/** How the connection to the health record is, since when, and how it was. */
export function Ehr({ practice: { id, ehr_status } }: { practice: OperatorPracticeGroup }) {
  const query = { practice_group_id: id, action: 'ehr_health.change', page_size: 5 };
  const { data } = useQuery(one('listAudit', { query }));
  const [tone, sentence] = words[ehr_status];
  const [last, ...earlier] = data?.data ?? [];
  return (
    <Banner tone={tone} actions={useMay('admin') && <Report id={id} status={ehr_status} />}>
      <strong>{sentence}</strong>{' '}
      {last && (
        <>
          For <Lasting since={last.at} />.{' '}
        </>
      )}
      {earlier.length > 0 && (
        <span className="soft">
          Before that:{' '}
          {earlier.map(({ seq, at, after }, index) => (
            <span key={seq}>
              {index > 0 && ', '}
              {String((after as { status?: string } | null)?.status ?? 'changed')} <When at={at} />
            </span>
          ))}
          .
        </span>
      )}
    </Banner>
  );
}

function Report({ id, status }: { id: string; status: Status }) {
  const report = useChange('reportEhrHealth', ['getPracticeGroup', 'listAllPracticeGroups', 'listAudit']);
  const next = status === 'healthy' ? 'unhealthy' : 'healthy';
  return (
    <Confirm
      action={next === 'unhealthy' ? 'It is down' : status === 'unhealthy' ? 'It works again' : 'It works'}
      title={next === 'healthy' ? 'Report that the connection works?' : 'Report that the connection is down?'}
      isDestructive={next === 'unhealthy'}
      run={() => report.mutateAsync({ params: { id }, body: { status: next } })}
    >
      <p>
        Every partner who receives events of this practice is told (<code>ehr.health_status.{next}</code>).
        Practice software usually reports this by itself.
      </p>
    </Confirm>
  );
}
