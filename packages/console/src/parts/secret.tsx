import { useBlocker } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { Button } from 'react-aria-components';
import { saveFile } from './download.ts';

/** A secret that is shown this one time. Whoever leaves before saying that it is stored is warned. */
export function Secret({
  name,
  value,
  fileName,
  done,
}: {
  name: string;
  value: string;
  fileName: string;
  done: () => void;
}) {
  const [isStored, setStored] = useState(false);
  const [copied, setCopied] = useState(false);
  useBlocker({
    shouldBlockFn: () => !window.confirm(`${name} is shown this one time only. Leave without it?`),
    enableBeforeUnload: () => !isStored,
    disabled: isStored,
  });
  // Only when nothing warns any more: whoever has stored it may be led elsewhere.
  const latest = useRef(done);
  latest.current = done;
  useEffect(() => {
    if (isStored) latest.current();
  }, [isStored]);
  const copy = async () => {
    await navigator.clipboard.writeText(value);
    setCopied(true);
  };
  const download = () => saveFile(fileName, 'text/plain', `${value}\n`);
  return (
    <section className="secret" aria-label={name}>
      <p>
        <strong>{name}</strong>, shown this one time only:
      </p>
      <pre>
        <code>{value}</code>
      </pre>
      <div className="actions">
        <Button className="button" onPress={copy}>
          {copied ? 'Copied' : 'Copy'}
        </Button>
        <Button className="button" onPress={download}>
          Download
        </Button>
        <Button className="button primary" onPress={() => setStored(true)}>
          I have stored it
        </Button>
      </div>
    </section>
  );
}
