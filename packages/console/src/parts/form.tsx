import { useId, useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { Checkbox } from 'react-aria-components/Checkbox';
import { CheckboxGroup } from 'react-aria-components/CheckboxGroup';
import { Dialog, DialogTrigger } from 'react-aria-components/Dialog';
import { FieldError } from 'react-aria-components/FieldError';
import { Heading } from 'react-aria-components/Heading';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { Text } from 'react-aria-components/Text';
import { TextArea } from 'react-aria-components/TextArea';
import { TextField } from 'react-aria-components/TextField';
import { Failure, fieldEntries } from './failure.tsx';

/** One field of a form: what is in it, and what the service said about it. */
export interface Field<T> {
  value: T;
  onChange: (value: T) => void;
  error: string | undefined;
}

export interface FormState<V extends object> {
  values: V;
  field: <K extends keyof V & string>(name: K) => Field<V[K]>;
  isRunning: boolean;
  /** What cannot be said at one of the fields. */
  failure: unknown;
  /** Whether it was done. What was typed stays if it was not. */
  submit: (run: (values: V) => Promise<unknown>) => Promise<boolean>;
}

/** A form is named after the fields of the call that it makes, so that what the service says about a field is shown there. */
export function useForm<V extends object>(initial: V): FormState<V> {
  const [values, setValues] = useState(initial);
  const [error, setError] = useState<unknown>();
  const [isRunning, setRunning] = useState(false);
  const { errors, isAllSaid } = placeErrors(error, values);
  return {
    values,
    field: (name) => ({
      value: values[name],
      onChange: (value) => setValues((before) => ({ ...before, [name]: value })),
      error: errors[name],
    }),
    isRunning,
    failure: isAllSaid ? undefined : error,
    async submit(run) {
      setRunning(true);
      setError(undefined);
      try {
        await run(values);
        return true;
      } catch (thrown) {
        setError(thrown);
        return false;
      } finally {
        setRunning(false);
      }
    },
  };
}

/** Each at the innermost field that it is about: `sla.latency_ms`, else `sla`. */
function placeErrors(error: unknown, values: object) {
  const errors: Record<string, string> = {};
  const entries = fieldEntries(error);
  const unplaced = entries.filter(({ path, message }) => {
    const names = path.map((_, at) => path.slice(0, at + 1).join('.')).reverse();
    const name = names.find((one) => one in values);
    if (name !== undefined) errors[name] = message;
    return name === undefined;
  });
  return { errors, isAllSaid: entries.length > 0 && unplaced.length === 0 };
}

interface LabelProps {
  label: string;
  description?: React.ReactNode;
}

/** What somebody types; of several lines with `rows`. */
export function Typed({
  label,
  description,
  field,
  rows,
  autoFocus,
  ...input
}: LabelProps & {
  field: Field<string>;
  rows?: number;
  autoFocus?: boolean;
  type?: 'text' | 'email' | 'url' | 'datetime-local' | 'date';
  inputMode?: 'numeric' | 'decimal';
  placeholder?: string;
}) {
  const { value, onChange, error } = field;
  return (
    <TextField
      value={value}
      onChange={onChange}
      isInvalid={error !== undefined}
      validationBehavior="aria"
      autoFocus={autoFocus ?? false}
    >
      <Label>{label}</Label>
      {rows ? (
        <TextArea rows={rows} spellCheck={false} />
      ) : (
        <Input autoComplete="off" spellCheck={false} {...input} />
      )}
      {description && <Text slot="description">{description}</Text>}
      <FieldError>{error}</FieldError>
    </TextField>
  );
}

export interface Choice {
  value: string;
  title: string;
  description?: string;
}

/** One of a few. */
export function Chosen({
  label,
  description,
  field: { value, onChange, error },
  choices,
}: LabelProps & { field: Field<string>; choices: readonly Choice[] }) {
  const id = useId();
  const chosen = choices.find((choice) => choice.value === value);
  return (
    <div className="chosen">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        value={value}
        aria-invalid={error !== undefined}
        onChange={(event) => onChange(event.target.value)}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.title}
          </option>
        ))}
      </select>
      {(chosen?.description ?? description) && (
        <p className="soft small">{chosen?.description ?? description}</p>
      )}
      {error !== undefined && <p className="react-aria-FieldError">{error}</p>}
    </div>
  );
}

/** Any number of a few, each with what it means. */
export function Ticked({
  label,
  description,
  field: { value, onChange, error },
  choices,
}: LabelProps & { field: Field<string[]>; choices: readonly Choice[] }) {
  return (
    <CheckboxGroup
      value={value}
      onChange={onChange}
      isInvalid={error !== undefined}
      validationBehavior="aria"
      className="ticks"
    >
      <Label>{label}</Label>
      {description && <Text slot="description">{description}</Text>}
      <div className="ticks-grid">
        {choices.map((choice) => (
          <Tick key={choice.value} value={choice.value} description={choice.description}>
            {choice.title}
          </Tick>
        ))}
      </div>
      <FieldError>{error}</FieldError>
    </CheckboxGroup>
  );
}

/** A box to tick, by itself or in a group. */
export function Tick({
  children,
  description,
  value,
  isSelected,
  onChange,
}: {
  children: React.ReactNode;
  description?: string | undefined;
  value?: string;
  isSelected?: boolean;
  onChange?: (isSelected: boolean) => void;
}) {
  return (
    <Checkbox
      className="tick"
      {...(value !== undefined && { value })}
      {...(isSelected !== undefined && { isSelected })}
      {...(onChange && { onChange })}
    >
      <span className="box" aria-hidden="true">
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="M3 8.5 6.5 12 13 4.5" />
        </svg>
      </span>
      <span className="words">
        {children}
        {description && <span className="soft small">{description}</span>}
      </span>
    </Checkbox>
  );
}

interface FormDialogProps<V extends object> {
  /** On the button that opens it. */
  action: string;
  title: string;
  /** On the button that does it; as `action` unless given. */
  submit?: string;
  initial: V;
  /** `opened`: what stood there when it came up. News that arrive meanwhile change nothing of what somebody sees. */
  run: (values: V, opened: V) => Promise<unknown>;
  children: (form: FormState<V>) => React.ReactNode;
  kind?: 'primary' | 'plain' | 'link' | 'danger';
}

/** A form that comes up at a button and closes when it was done; what was typed is kept when it was not. */
export function FormDialog<V extends object>({ action, title, kind = 'plain', ...form }: FormDialogProps<V>) {
  const classes = { primary: 'button primary', plain: 'button', link: 'link', danger: 'button danger' };
  return (
    <DialogTrigger>
      <Button className={classes[kind]}>{action}</Button>
      <ModalOverlay className="overlay">
        <Modal className="modal">
          <Dialog>
            {({ close }) => (
              <>
                <Heading slot="title">{title}</Heading>
                <DialogForm {...form} kind={kind} submit={form.submit ?? action} close={close} />
              </>
            )}
          </Dialog>
        </Modal>
      </ModalOverlay>
    </DialogTrigger>
  );
}

function DialogForm<V extends object>({
  initial,
  run,
  submit,
  kind,
  close,
  children,
}: Pick<FormDialogProps<V>, 'initial' | 'run' | 'children' | 'kind'> & {
  submit: string;
  close: () => void;
}) {
  const [opened] = useState(initial);
  const form = useForm(opened);
  return (
    <form
      className="stack"
      noValidate
      onSubmit={async (event) => {
        event.preventDefault();
        if (await form.submit((values) => run(values, opened))) close();
      }}
    >
      {children(form)}
      {form.failure !== undefined && <Failure error={form.failure} />}
      <div className="actions">
        <Button className="button" onPress={close}>
          Cancel
        </Button>
        <Button
          type="submit"
          className={kind === 'danger' ? 'button danger' : 'button primary'}
          isPending={form.isRunning}
        >
          {submit}
        </Button>
      </div>
    </form>
  );
}

/** What is typed as what is sent: nothing is null, and what is no number goes as it is, so that the service says what it wants. */
export const textOrNull = (typed: string): string | null => typed.trim() || null;
export const numberOrNull = (typed: string): number | null => {
  const text = typed.trim();
  if (text === '') return null;
  const number = Number(text);
  return Number.isNaN(number) ? (text as unknown as number) : number;
};
export const momentOrNull = (typed: string): string | null => {
  if (typed === '') return null;
  const at = new Date(typed);
  return Number.isNaN(at.getTime()) ? typed : at.toISOString();
};
export const linesOf = (typed: string): string[] =>
  typed
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** A moment as `<input type="datetime-local">` has it: in the zone of whoever looks. */
export function toLocalInput(at: string | null): string {
  if (at === null) return '';
  const moment = new Date(at);
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
