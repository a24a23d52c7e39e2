import type { ApiKey, PublicKeys } from '../../api/generated.ts';
import {
  Chosen,
  type FormState,
  linesOf,
  momentOrNull,
  numberOrNull,
  Ticked,
  Typed,
  textOrNull,
  toLocalInput,
} from '../../parts/form.tsx';
import { type Scope, scopeChoices } from './scopes.ts';

/** What may be set about a key, when it is issued and later. */
export interface KeyFieldsOf {
  label: string;
  scopes: string[];
  rate_limit_per_minute: string;
  expires_at: string;
  allowed_addresses: string;
  proof: string;
  certificate_fingerprints: string;
  jwks: string;
}

export function keyFields(key: ApiKey | null): KeyFieldsOf {
  return {
    label: key?.label ?? '',
    scopes: key?.scopes ?? [],
    rate_limit_per_minute: key?.rate_limit_per_minute == null ? '' : String(key.rate_limit_per_minute),
    expires_at: toLocalInput(key?.expires_at ?? null),
    allowed_addresses: (key?.allowed_addresses ?? []).join('\n'),
    proof: key?.proof ?? 'none',
    certificate_fingerprints: (key?.certificate_fingerprints ?? []).join('\n'),
    jwks: key?.jwks ? JSON.stringify(key.jwks, null, 2) : '',
  };
}

export function keyBody(values: KeyFieldsOf) {
  const addresses = linesOf(values.allowed_addresses);
  return {
    label: textOrNull(values.label),
    scopes: values.scopes as Scope[],
    rate_limit_per_minute: numberOrNull(values.rate_limit_per_minute),
    expires_at: momentOrNull(values.expires_at),
    allowed_addresses: addresses.length > 0 ? addresses : null,
    proof: values.proof as ApiKey['proof'],
    certificate_fingerprints: linesOf(values.certificate_fingerprints),
    jwks: values.proof === 'private_key_jwt' ? jsonOrText(values.jwks) : null,
  };
}

/** What is no JSON goes as it is: the service says what it wants. */
function jsonOrText(typed: string): PublicKeys | null {
  if (typed.trim() === '') return null;
  try {
    return JSON.parse(typed);
  } catch {
    return typed as unknown as PublicKeys;
  }
}

const proofs = [
  { value: 'none', title: 'nothing but the key' },
  {
    value: 'mtls',
    title: 'a client certificate (mutual TLS)',
    description: 'A call must come over a connection with one of these certificates.',
  },
  {
    value: 'private_key_jwt',
    title: 'a signed JWT',
    description: 'A call must bring an assertion that one of these keys signed.',
  },
];

export function KeyFields<V extends KeyFieldsOf>({ form }: { form: FormState<V> }) {
  const { field, values } = form as unknown as FormState<KeyFieldsOf>;
  return (
    <>
      <Typed
        label="Label"
        description="What people call it, such as “booking service, production”."
        field={field('label')}
      />
      <Ticked label="What it may do" field={field('scopes')} choices={scopeChoices} />
      <div className="fields">
        <Typed
          label="Calls a minute"
          description="Empty: as the agreement says."
          inputMode="numeric"
          field={field('rate_limit_per_minute')}
        />
        <Typed
          label="Expires"
          description="Empty: never."
          type="datetime-local"
          field={field('expires_at')}
        />
      </div>
      <Typed
        label="From where it may be used"
        description="Addresses and ranges, one on a line, such as 192.0.2.0/24. Empty: from anywhere."
        rows={2}
        field={field('allowed_addresses')}
      />
      <Chosen label="A call must show" field={field('proof')} choices={proofs} />
      {values.proof === 'mtls' && (
        <Typed
          label="Fingerprints of its certificates"
          description="SHA-256, one on a line, as OpenSSL prints them."
          rows={3}
          field={field('certificate_fingerprints')}
        />
      )}
      {values.proof === 'private_key_jwt' && (
        <Typed
          label="Its public keys"
          description='A JWK set: {"keys": […]}. No private part.'
          rows={6}
          field={field('jwks')}
        />
      )}
    </>
  );
}
