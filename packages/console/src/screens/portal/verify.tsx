import { useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { Pick, useFilters } from '../../parts/filters.tsx';
import { Page } from '../../parts/page.tsx';

/** As the documentation has them; put in place by the build. */
declare const VERIFIERS: { language: string; code: string }[];

/** How do we know that a delivery is genuine? */
export function Verify() {
  const { values, set } = useFilters(['language']);
  const [first, ...others] = VERIFIERS;
  const shown = VERIFIERS.find(({ language }) => language === values.language) ?? first;
  const [copied, setCopied] = useState<string>();
  if (!shown) return null;
  return (
    <Page
      title="Verify signatures"
      actions={
        <>
          <Pick
            label="Language"
            value={values.language}
            choices={others.map(({ language }) => ({ value: language, title: language }))}
            any={first?.language ?? ''}
            onChange={(value) => set('language', value)}
          />
          <Button
            className="button"
            onPress={async () => {
              await navigator.clipboard.writeText(shown.code);
              setCopied(shown.language);
            }}
          >
            {copied === shown.language ? 'Copied' : 'Copy'}
          </Button>
        </>
      }
    >
      <p>
        Anybody can post to a public address. Verify the body as it arrived, before it is parsed, with the
        secret of the webhook; a delivery from more than five minutes ago is not taken.{' '}
        <a href="/docs/guides/receiving-webhooks#verify-every-delivery">The guide</a> says more.
      </p>
      <pre className="program">
        <code>{shown.code}</code>
      </pre>
    </Page>
  );
}
