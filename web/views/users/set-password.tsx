import { useSignal } from '@preact/signals';
import type { Refusal } from '../../api/refusal.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { t } from '../../texts/text.ts';
import { firstPassword } from './first-password.ts';
import { ShownOnce } from './shown-once.tsx';
import { setPassword } from './user-calls.ts';

interface SetPasswordProps {
  readonly name: string;
  onSet(): void;
  onClose(): void;
}

/** Gives somebody a new first password, which is shown once. */
export function SetPassword({ name, onSet, onClose }: SetPasswordProps) {
  const texts = t().users;
  const [password, isBusy, mustChoose] = [useSignal(''), useSignal(false), useSignal(true)];
  const refusal = useSignal<Refusal | undefined>(undefined);
  const set = async (): Promise<void> => {
    isBusy.value = true;
    const made = firstPassword();
    refusal.value = await setPassword(name, made, { mustChoose: mustChoose.value });
    isBusy.value = false;
    if (refusal.value) return;
    password.value = made;
    onSet();
  };
  if (password.value !== '')
    return (
      <Dialog title={texts.setPassword} isKept onClose={onClose}>
        <ShownOnce
          {...{ password: password.value, said: texts.passwordSet(name), mustChoose: mustChoose.value, onClose }}
        />
      </Dialog>
    );
  return (
    <Dialog title={texts.setPassword} onClose={onClose}>
      <p>{texts.setPasswordMeans(name)}</p>
      <label class="tick">
        <input
          type="checkbox"
          checked={mustChoose.value}
          onChange={({ currentTarget }) => (mustChoose.value = currentTarget.checked)}
        />
        {texts.mustChoose}
      </label>
      {refusal.value && <Trouble refusal={refusal.value} />}
      <p class="actions">
        <button type="button" class="danger" disabled={isBusy.value} onClick={() => void set()}>
          {texts.setPassword}
        </button>
        <button type="button" onClick={onClose}>
          {t().forms.cancel}
        </button>
      </p>
    </Dialog>
  );
}
