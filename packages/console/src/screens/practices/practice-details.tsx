import { useNavigate } from '@tanstack/react-router';
import { useChange } from '../../api/client.ts';
import type { Address, OpeningHours, OperatorPracticeGroup } from '../../api/generated.ts';
import { useMay } from '../../frame/session.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { FormDialog, Typed, textOrNull } from '../../parts/form.tsx';
import { Id } from '../../parts/id.tsx';
import { Facts, Section } from '../../parts/page.tsx';
import { When } from '../../parts/when.tsx';

const days = {
  mon: 'Monday',
  tue: 'Tuesday',
  wed: 'Wednesday',
  thu: 'Thursday',
  fri: 'Friday',
  sat: 'Saturday',
  sun: 'Sunday',
} as const;
type Weekday = keyof typeof days;
const weekdays = Object.keys(days) as Weekday[];

const lines = ['line_1', 'line_2', 'town', 'county', 'postcode'] as const satisfies (keyof Address)[];
const lineNames = ['First line', 'Second line', 'Town', 'County', 'Postcode'] as const;

/** `08:00–12:00, 13:00–18:30` and back. */
const toText = (spans: string[][] | undefined): string =>
  (spans ?? []).map(([from, to]) => `${from}–${to}`).join(', ');
const toSpans = (text: string): string[][] =>
  text
    .split(',')
    .filter((span) => span.trim() !== '')
    .map((span) => span.split(/\s*[–-]\s*/).map((time) => time.trim()));

export function Details({ practice }: { practice: OperatorPracticeGroup }) {
  const may = useMay('admin');
  const { address, opening_hours } = practice;
  return (
    <Section
      title="Details"
      actions={
        may && (
          <>
            <ChangePractice practice={practice} />
            <RemovePractice practice={practice} />
          </>
        )
      }
    >
      <Facts
        of={{
          'ODS code': practice.ods_code ?? 'none',
          ID: <Id>{practice.id}</Id>,
          'Time zone': practice.timezone,
          Address: address
            ? lines
                .map((line) => address[line])
                .filter((line) => line)
                .join(', ') || 'none'
            : 'none',
          Networks: practice.networks.map(({ name }) => name).join(', ') || 'none',
          Since: <When at={practice.created_at} />,
        }}
      />
      <h3>Opening hours</h3>
      <dl className="facts hours">
        {weekdays.map((day) => (
          <div key={day}>
            <dt>{days[day]}</dt>
            <dd>{toText(opening_hours[day]) || 'closed'}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

type Fields = Record<'name' | 'ods_code' | 'timezone', string> &
  Record<`address.${(typeof lines)[number]}`, string> &
  Record<`opening_hours.${Weekday}`, string>;

function ChangePractice({ practice }: { practice: OperatorPracticeGroup }) {
  const update = useChange('updatePracticeGroup', ['getPracticeGroup', 'listAllPracticeGroups']);
  const initial = Object.fromEntries([
    ['name', practice.name],
    ['ods_code', practice.ods_code ?? ''],
    ['timezone', practice.timezone],
    ...lines.map((line) => [`address.${line}`, practice.address?.[line] ?? '']),
    ...weekdays.map((day) => [`opening_hours.${day}`, toText(practice.opening_hours[day])]),
  ]) as Fields;
  return (
    <FormDialog
      action="Change"
      title={`Change ${practice.name}`}
      submit="Save"
      initial={initial}
      run={(values) => update.mutateAsync({ params: { id: practice.id }, body: bodyOf(values) })}
    >
      {({ field }) => (
        <>
          <Typed label="Name" field={field('name')} autoFocus />
          <div className="fields">
            <Typed label="ODS code" field={field('ods_code')} />
            <Typed label="Time zone" field={field('timezone')} />
            {lines.map((line, at) => (
              <Typed key={line} label={lineNames[at] ?? line} field={field(`address.${line}`)} />
            ))}
          </div>
          <fieldset className="stack">
            <legend>Opening hours, such as 08:00–12:00, 13:00–18:30; empty: closed</legend>
            <div className="fields">
              {weekdays.map((day) => (
                <Typed key={day} label={days[day]} field={field(`opening_hours.${day}`)} />
              ))}
            </div>
          </fieldset>
        </>
      )}
    </FormDialog>
  );
}

function bodyOf(values: Fields) {
  const address = Object.fromEntries(
    lines.map((line) => [line, textOrNull(values[`address.${line}`])]),
  ) as unknown as Address;
  const hours = Object.fromEntries(
    weekdays
      .map((day) => [day, toSpans(values[`opening_hours.${day}`])] as const)
      .filter(([, spans]) => spans.length > 0),
  ) as OpeningHours;
  return {
    name: values.name,
    ods_code: textOrNull(values.ods_code),
    timezone: values.timezone,
    address: Object.values(address).every((line) => line === null) ? null : address,
    opening_hours: hours,
  };
}

function RemovePractice({ practice: { id, name } }: { practice: OperatorPracticeGroup }) {
  const remove = useChange('deletePracticeGroup', ['listAllPracticeGroups']);
  const navigate = useNavigate();
  return (
    <Confirm
      action="Remove"
      title={`Remove ${name}?`}
      typed={{ label: 'Type its ID', text: id }}
      run={async () => {
        await remove.mutateAsync({ params: { id } });
        await navigate({ to: '/practices' });
      }}
    >
      <p>
        It goes only when nothing of it is in use: keys that work, webhooks, networks, submission types,
        forms, assignees. Its events, forms and audit entries are kept as long as any.
      </p>
    </Confirm>
  );
}
