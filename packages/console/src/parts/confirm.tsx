import { useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { Dialog, DialogTrigger } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { TextField } from 'react-aria-components/TextField';
import { Failure } from './failure.tsx';

interface ConfirmProps {
  /** On the button that asks, and on the one that does it. */
  action: string;
  title: string;
  /** What will happen, and to how many. */
  children: React.ReactNode;
  /** Must be typed first: the last four of a key, the name of what goes. */
  typed?: { label: string; text: string };
  /** Does it; the dialog stays with what went wrong if it throws. */
  run: () => Promise<unknown>;
  isDestructive?: boolean;
  isDisabled?: boolean;
}

/** Says what will happen, asks once, and closes only when it is done. */
export function Confirm({
  action,
  title,
  children,
  typed,
  run,
  isDestructive = true,
  isDisabled = false,
}: ConfirmProps) {
  return (
    <DialogTrigger>
      <Button isDisabled={isDisabled} className={isDestructive ? 'button danger' : 'button'}>
        {action}
      </Button>
      <ModalOverlay className="overlay" isDismissable>
        <Modal className="modal">
          <Dialog role="alertdialog">
            {({ close }) => (
              <Question {...{ action, title, typed, run, isDestructive, close }}>{children}</Question>
            )}
          </Dialog>
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  );
}

function Question({
  action,
  title,
  children,
  typed,
  run,
  isDestructive,
  close,
}: Omit<ConfirmProps, 'isDisabled' | 'typed'> & { typed: ConfirmProps['typed']; close: () => void }) {
  const [text, setText] = useState('');
  const [error, setError] = useState<unknown>();
  const [isRunning, setRunning] = useState(false);
  const submit = async () => {
    setRunning(true);
    setError(undefined);
    try {
      await run();
      close();
    } catch (thrown) {
      setError(thrown);
      setRunning(false);
    }
  };
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Heading slot="title">{title}</Heading>
      <div>{children}</div>
      {typed && (
        <TextField value={text} onChange={setText} autoFocus>
          <Label>{typed.label}</Label>
          <Input autoComplete="off" spellCheck={false} />
        </TextField>
      )}
      {error !== undefined && <Failure error={error} />}
      <div className="actions">
        <Button className="button" onPress={close}>
          Cancel
        </Button>
        <Button
          type="submit"
          className={isDestructive ? 'button danger' : 'button primary'}
          isPending={isRunning}
          isDisabled={isRunning || (typed !== undefined && text.trim() !== typed.text)}
        >
          {action}
        </Button>
      </div>
    </form>
  );
}
