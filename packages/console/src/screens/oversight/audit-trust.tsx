import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { ask, one } from '../../api/client.ts';
import type { AuditVerdict } from '../../api/generated.ts';
import { saveFile } from '../../parts/download.ts';
import { FormDialog, Typed } from '../../parts/form.tsx';
import { Banner } from '../../parts/page.tsx';

/** Whether the audit can be trusted: verified up to which entry, anchored where. */
export function AuditTrust() {
  const [verdict, setVerdict] = useState<AuditVerdict>();
  const anchor = useQuery(one('getAuditAnchor', {}));
  const settings = useQuery(one('listSettings', {}));
  const places = (settings.data?.data ?? []).filter(
    ({ name, value }) => /AUDIT_ANCHOR_(FILE|URL)/.test(name) && value !== null,
  );
  return (
    <Banner
      tone={verdict === undefined ? 'waiting' : verdict.ok ? 'fine' : 'failing'}
      actions={
        <>
          <FormDialog
            action="Verify"
            title="Verify the audit"
            submit="Verify"
            initial={{ anchor: '' }}
            run={async ({ anchor: line }) => {
              const query = line.trim() ? { anchor: line.trim() } : {};
              setVerdict((await ask('verifyAudit', { query })).data);
            }}
          >
            {({ field }) => (
              <>
                <p>
                  The hash of every entry covers the one before, so any that was altered, removed or moved
                  comes out.
                </p>
                <Typed
                  label="An anchor that was kept"
                  description="One line. With it, it also comes out if the whole trail was cut or written anew since. It may be left out."
                  rows={3}
                  field={field('anchor')}
                />
              </>
            )}
          </FormDialog>
          {anchor.data && (
            <Button
              className="button"
              onPress={() =>
                saveFile(`porter-audit-anchor-${anchor.data.seq}.txt`, 'text/plain', `${anchor.data.line}\n`)
              }
            >
              Keep an anchor
            </Button>
          )}
        </>
      }
    >
      <p role="status">
        <strong>{verdict ? verdictOf(verdict) : 'Not verified since you opened this page.'}</strong>
      </p>
      <p className="soft">
        {anchor.data && `The trail ends with entry ${anchor.data.seq}. `}
        {places.length > 0
          ? `Anchors go to ${places.map(({ value }) => value).join(' and ')}.`
          : 'Anchors are not kept anywhere automatically (PORTER_AUDIT_ANCHOR_FILE, PORTER_AUDIT_ANCHOR_URL).'}
      </p>
    </Banner>
  );
}

const problems = {
  not_genuine: 'The anchor itself was altered.',
  cut: 'The trail was cut: it ends before the anchor.',
  rewritten: 'The trail was written anew: another entry stands where the anchor was made.',
};

function verdictOf({ ok, entries, first_bad, anchor }: AuditVerdict): string {
  if (anchor?.problem) return problems[anchor.problem];
  if (!ok)
    return `Entry ${first_bad} is not as it was written. Look at it, and at who could write to the database.`;
  const since = anchor ? ` It is the trail that the anchor of entry ${anchor.seq} was made of.` : '';
  return `Verified: all ${entries.toLocaleString('en')} entries are as they were written.${since}`;
}
