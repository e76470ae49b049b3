import type { ComponentChildren, TargetedInputEvent } from 'preact';
import { useId } from 'preact/hooks';
import type { Refusal } from '../api/refusal.ts';

interface FieldProps {
  readonly label: string;
  readonly value: string;
  /** What is wrong with the value; empty: nothing is known to be. */
  readonly fault?: string | undefined;
  readonly hint?: ComponentChildren;
  readonly isSecret?: boolean;
  readonly autocomplete?: 'off' | 'current-password' | 'new-password';
  readonly isRequired?: boolean;
  onInput(value: string): void;
}

/** A field of a form with its label, a hint, and what the server says against its value. */
export function Field(props: FieldProps) {
  const { label, value, fault = '', hint, isSecret = false, autocomplete = 'off', isRequired = false, onInput } = props;
  const id = useId();
  const described = [hint ? `${id}-hint` : '', fault === '' ? '' : `${id}-fault`].filter(Boolean).join(' ');
  const attributes = {
    id,
    value,
    autocomplete,
    autocapitalize: 'none',
    spellcheck: false,
    required: isRequired,
    'aria-invalid': fault !== '',
    'aria-describedby': described || undefined,
    onInput: ({ currentTarget }: TargetedInputEvent<HTMLInputElement>) => onInput(currentTarget.value),
  } as const;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {isSecret ? <input type="password" {...attributes} /> : <input type="text" {...attributes} />}
      {hint && (
        <div id={`${id}-hint`} class="soft">
          {hint}
        </div>
      )}
      <FieldFault id={`${id}-fault`} text={fault} />
    </div>
  );
}

interface SelectFieldProps {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly (readonly [value: string, title: string])[];
  onChange(value: string): void;
}

/** A field with a few words to choose from. */
export function SelectField({ label, value, choices, onChange }: SelectFieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {choices.map(([word, title]) => (
          <option key={word} value={word}>
            {title}
          </option>
        ))}
      </select>
    </div>
  );
}

/** What is wrong with a field, below it. */
function FieldFault({ id, text }: { readonly id: string; readonly text: string }) {
  return (
    <p id={id} class="fault" role="alert">
      {text}
    </p>
  );
}

/** What a refusal says about the fields whose paths end so: `password`, `spec.email`. Empty if it says nothing. */
export const faultOf = (refusal: Refusal | undefined, ...fields: readonly string[]): string =>
  (refusal?.causes ?? [])
    .filter(({ field }) => fields.includes(field))
    .map(({ message }) => message)
    .join('; ');

/** The refusal, unless all that it says stands beside one of these fields. */
export const elsewhere = (refusal: Refusal | undefined, fields: readonly string[]): Refusal | undefined =>
  refusal && refusal.causes.length > 0 && refusal.causes.every(({ field }) => fields.includes(field))
    ? undefined
    : refusal;
