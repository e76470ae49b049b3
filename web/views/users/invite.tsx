import { useSignal } from '@preact/signals';
import type { Refusal } from '../../api/refusal.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { elsewhere, Field, faultOf, SelectField } from '../../parts/field.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { t } from '../../texts/text.ts';
import { firstPassword } from './first-password.ts';
import { ShownOnce } from './shown-once.tsx';
import { createUser } from './user-calls.ts';

interface InviteProps {
  /** The names of the roles that may be given. */
  readonly roles: readonly string[];
  onCreated(): void;
  onClose(): void;
}

/** The role that people get unless another one is chosen. */
const USUAL = 'platform-regular';

/** Makes a user with a first password, which is shown once. */
export function Invite({ roles, onCreated, onClose }: InviteProps) {
  const texts = t().users;
  const [name, email] = [useSignal(''), useSignal('')];
  const role = useSignal(roles.includes(USUAL) ? USUAL : '');
  const [password, isBusy] = [useSignal(''), useSignal(false)];
  const refusal = useSignal<Refusal | undefined>(undefined);
  const create = async (): Promise<void> => {
    isBusy.value = true;
    const made = firstPassword();
    const wanted = { name: name.value.trim(), email: email.value.trim(), role: role.value, password: made };
    refusal.value = await createUser(wanted);
    isBusy.value = false;
    if (refusal.value) return;
    password.value = made;
    onCreated();
  };
  const other = elsewhere(refusal.value, ['metadata.name', 'spec.email']);
  return (
    <Dialog title={texts.invite} isKept={password.value !== ''} onClose={onClose}>
      {password.value !== '' ? (
        <ShownOnce
          {...{ password: password.value, said: texts.created(name.value.trim()), mustChoose: true, onClose }}
        />
      ) : (
        <form
          class="form"
          onSubmit={(event) => {
            event.preventDefault();
            void create();
          }}
        >
          <p class="soft">{texts.inviteMeans}</p>
          <Field
            {...{ label: texts.name, value: name.value, isRequired: true, hint: texts.nameHint }}
            fault={faultOf(refusal.value, 'metadata.name')}
            onInput={(value) => (name.value = value)}
          />
          <Field
            {...{ label: texts.email, value: email.value }}
            fault={faultOf(refusal.value, 'spec.email')}
            onInput={(value) => (email.value = value)}
          />
          <SelectField
            {...{ label: texts.role, value: role.value }}
            choices={[['', texts.noRole], ...roles.map((one) => [one, one] as const)]}
            onChange={(value) => (role.value = value)}
          />
          {other && <Trouble refusal={other} />}
          <p class="actions">
            <button type="submit" class="main" disabled={isBusy.value}>
              {texts.create}
            </button>
            <button type="button" onClick={onClose}>
              {t().forms.cancel}
            </button>
          </p>
        </form>
      )}
    </Dialog>
  );
}
