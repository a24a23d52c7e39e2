import { type Field, Tick, Ticked } from '../../parts/form.tsx';
import { contactChoices, type PartnerKind } from '../access/contact-words.ts';

/** Which alerts a contact of a partner is told of: a part of a form. */

export interface ToldFields {
  isAll: boolean;
  alert_kinds: string[];
}

export const toldOfContact = (told: string[] | null): ToldFields => ({
  isAll: told === null,
  alert_kinds: told ?? [],
});

export const toAlertKinds = ({ isAll, alert_kinds }: ToldFields) =>
  isAll ? null : (alert_kinds as PartnerKind[]);

export function ToldOf({ isAll, kinds }: { isAll: Field<boolean>; kinds: Field<string[]> }) {
  return (
    <>
      <Tick isSelected={isAll.value} onChange={isAll.onChange} description="Kinds that are added later, too.">
        Tell them of every alert
      </Tick>
      {!isAll.value && (
        <Ticked
          label="Tell them when"
          description="Of leaked keys everybody is told."
          field={kinds}
          choices={contactChoices}
        />
      )}
    </>
  );
}
