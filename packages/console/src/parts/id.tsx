import { useState } from 'react';
import { Button } from 'react-aria-components/Button';

/** An ID, small and in mono, with one click to copy it. */
export function Id({ children }: { children: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(children);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <span className="id">
      <code>{children}</code>
      <Button aria-label={`Copy ${children}`} onPress={copy}>
        {copied ? 'copied' : 'copy'}
      </Button>
    </span>
  );
}
