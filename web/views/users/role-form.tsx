import { useSignal } from '@preact/signals';
import type { KubernetesObject } from '../../api/objects.ts';
import type { Refusal } from '../../api/refusal.ts';
import { person } from '../../app/session.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { SelectField } from '../../parts/field.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { t } from '../../texts/text.ts';
import { changeUser, roleOf, useRoles, withRole } from './user-calls.ts';

/** The role that may give every role (docs/accounts.md). */
const ADMINISTRATOR = 'platform-admin';

interface RoleFormProps {
  readonly user: KubernetesObject;
  onChanged(): void;
}

/** The platform role of a user, to change it. The API takes none away without giving another. */
export function RoleForm({ user, onChanged }: RoleFormProps) {
  const texts = t().users;
  const roles = useRoles();
  const now = roleOf(user);
  const [wanted, isBusy, isAsked] = [useSignal(now), useSignal(false), useSignal(false)];
  const refusal = useSignal<Refusal | undefined>(undefined);
  const names = new Set([
    ...(now === '' ? [] : [now]),
    ...(roles.value.value?.items ?? []).map(({ metadata }) => metadata.name),
  ]);
  const { name } = user.metadata;
  const isSelf = name === person.value?.user;
  const give = async (): Promise<Refusal | undefined> => {
    const why = await changeUser(name, (current) => withRole(current, wanted.value));
    if (!why) onChanged();
    return why;
  };
  const giveAtOnce = async (): Promise<void> => {
    isBusy.value = true;
    refusal.value = await give();
    isBusy.value = false;
  };
  return (
    <section class="card" aria-labelledby="role">
      <h2 id="role">{t().accountPage.role}</h2>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          // A reader who gives up this role cannot take it back, and a new administrator can do all that the reader can.
          if (isSelf || wanted.value === ADMINISTRATOR) isAsked.value = true;
          else void giveAtOnce();
        }}
      >
        <SelectField
          {...{ label: texts.role, value: wanted.value }}
          choices={[
            ...(now === '' ? [['', texts.noRole] as const] : []),
            ...[...names].map((name) => [name, name] as const),
          ]}
          onChange={(value) => (wanted.value = value)}
        />
        {roles.refusal.value && <Trouble refusal={roles.refusal.value} again={() => roles.again()} />}
        {refusal.value && <Trouble refusal={refusal.value} />}
        <p class="actions">
          <button type="submit" disabled={isBusy.value || wanted.value === now}>
            {texts.giveRole}
          </button>
        </p>
      </form>
      {isAsked.value && (
        <Confirm
          title={`${texts.giveRole}: ${wanted.value}`}
          action={texts.giveRole}
          act={give}
          onClose={() => (isAsked.value = false)}
        >
          <p>{isSelf ? texts.ownRoleMeans : texts.adminMeans(name)}</p>
        </Confirm>
      )}
    </section>
  );
}
