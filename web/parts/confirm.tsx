import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { Refusal } from '../api/refusal.ts';
import { t } from '../texts/text.ts';
import { Dialog } from './dialog.tsx';
import { Field } from './field.tsx';
import { Trouble } from './trouble.tsx';

interface ConfirmProps {
  readonly title: string;
  /** What will happen. */
  readonly children: ComponentChildren;
  /** The words of the button that does it. */
  readonly action: string;
  /** A word that must be typed first. */
  readonly typed?: string;
  /** Does it. Resolves to why it was refused. */
  act(): Promise<Refusal | undefined>;
  onClose(): void;
}

/** Asks before something is done that cannot be taken back, and stays open while the server refuses it. */
export function Confirm({ title, children, action, typed, act, onClose }: ConfirmProps) {
  const word = useSignal('');
  const isBusy = useSignal(false);
  const refusal = useSignal<Refusal | undefined>(undefined);
  const confirm = async (): Promise<void> => {
    isBusy.value = true;
    refusal.value = await act();
    isBusy.value = false;
    if (refusal.value === undefined) onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void confirm();
        }}
      >
        {children}
        {typed !== undefined && (
          <Field label={t().forms.typeName(typed)} value={word.value} onInput={(value) => (word.value = value)} />
        )}
        {refusal.value && <Trouble refusal={refusal.value} />}
        <p class="actions">
          <button
            type="submit"
            class="danger"
            disabled={isBusy.value || (typed !== undefined && word.value.trim() !== typed)}
          >
            {action}
          </button>
          <button type="button" onClick={onClose}>
            {t().forms.cancel}
          </button>
        </p>
      </form>
    </Dialog>
  );
}
