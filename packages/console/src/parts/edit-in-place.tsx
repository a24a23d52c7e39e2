import { useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { FieldError } from 'react-aria-components/FieldError';
import { Input } from 'react-aria-components/Input';
import { TextField } from 'react-aria-components/TextField';
import { fieldEntries, toSentence } from './failure.tsx';

/** A value that becomes a field when it is pressed. Enter saves, Escape leaves it as it was; what the service says stands beside it. */
export function EditInPlace({
  label,
  name,
  value,
  shown,
  inputMode,
  save,
}: {
  label: string;
  /** The field of the call. */
  name: string;
  value: string;
  shown: string;
  inputMode?: 'numeric';
  save: (typed: string) => Promise<unknown>;
}) {
  const [typed, setTyped] = useState<string>();
  const [error, setError] = useState<string>();
  const [isRunning, setRunning] = useState(false);
  if (typed === undefined)
    return (
      <Button className="edit" aria-label={`${label}: ${shown}. Change`} onPress={() => setTyped(value)}>
        {shown}
      </Button>
    );
  const leave = () => {
    setTyped(undefined);
    setError(undefined);
  };
  const submit = async () => {
    setRunning(true);
    try {
      await save(typed);
      leave();
    } catch (thrown) {
      const entry = fieldEntries(thrown).find(({ path }) => path[0] === name);
      setError(entry?.message ?? toSentence(thrown));
    }
    setRunning(false);
  };
  return (
    <form
      className="edit-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <TextField
        aria-label={label}
        value={typed}
        onChange={setTyped}
        isInvalid={error !== undefined}
        validationBehavior="aria"
        autoFocus
        onKeyDown={(event) => event.key === 'Escape' && leave()}
      >
        <Input autoComplete="off" {...(inputMode && { inputMode })} />
        <FieldError>{error}</FieldError>
      </TextField>
      <Button type="submit" className="button" isPending={isRunning}>
        Save
      </Button>
      <Button className="link" onPress={leave}>
        Cancel
      </Button>
    </form>
  );
}
