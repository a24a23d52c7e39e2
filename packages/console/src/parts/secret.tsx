import { useBlocker } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { Button } from 'react-aria-components/Button';
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
  /** At once, so that whoever says so may be led on. */
  const isStored = useRef(false);
  const [copied, setCopied] = useState(false);
  useBlocker({
    shouldBlockFn: () =>
      !isStored.current && !window.confirm(`${name} is shown this one time only. Leave without it?`),
    enableBeforeUnload: () => !isStored.current,
  });
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
        <Button
          className="button primary"
          onPress={() => {
            isStored.current = true;
            done();
          }}
        >
          I have stored it
        </Button>
      </div>
    </section>
  );
}
