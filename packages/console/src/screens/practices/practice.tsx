import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { one } from '../../api/client.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { Invitations } from '../access/invitations.tsx';
import { Details } from './practice-details.tsx';
import { Directory } from './practice-directory.tsx';
import { Ehr } from './practice-ehr.tsx';
import { Told } from './practice-privacy.tsx';
import { PracticeReach } from './practice-reach.tsx';
import { SubmissionTypes } from './practice-types.tsx';
import { ChangesWaiting, WriteThrough } from './practice-write-through.tsx';

/** What do they take today? Who may reach them? */
export function Practice() {
  const { id = '' } = useParams({ strict: false });
  const query = useQuery(one('getPracticeGroup', { params: { id } }));
  return (
    <Page title={query.data?.name ?? 'Practice'} trail={[{ title: 'Practices', to: '/practices' }]}>
      <Loaded query={query}>
        {(practice) => (
          <>
            <Ehr practice={practice} />
            <Tabs
              of={[
                {
                  id: 'today',
                  title: 'Submission types',
                  content: () => (
                    <>
                      <SubmissionTypes practice={practice} />
                      <ChangesWaiting practice={practice} />
                    </>
                  ),
                },
                {
                  id: 'reach',
                  title: 'Who may reach them',
                  content: () => <PracticeReach practice={practice} />,
                },
                {
                  id: 'directory',
                  title: 'Forms and assignees',
                  content: () => <Directory practice={practice} />,
                },
                {
                  id: 'details',
                  title: 'Details',
                  content: () => (
                    <>
                      <Details practice={practice} />
                      <WriteThrough practice={practice} />
                      <Invitations of={{ practice_group_id: practice.id }} />
                    </>
                  ),
                },
                { id: 'told', title: 'Who was told', content: () => <Told practice={practice} /> },
              ]}
            />
          </>
        )}
      </Loaded>
    </Page>
  );
}
