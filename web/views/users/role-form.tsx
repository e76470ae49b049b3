import { useSignal } from '@preact/signals';
import type { KubernetesObject } from '../../api/objects.ts';
import type { Refusal } from '../../api/refusal.ts';
import { SelectField } from '../../parts/field.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { t } from '../../texts/text.ts';
import { changeUser, roleOf, useRoles, withRole } from './user-calls.ts';

interface RoleFormProps {
  readonly user: KubernetesObject;
  onChanged(): void;
}

/** The platform role of a user, to change it. The API takes none away without giving another. */
export function RoleForm({ user, onChanged }: RoleFormProps) {
  const texts = t().users;
  const roles = useRoles();
  const now = roleOf(user);
  const [wanted, isBusy] = [useSignal(now), useSignal(false)];
  const refusal = useSignal<Refusal | undefined>(undefined);
  const names = new Set([
    ...(now === '' ? [] : [now]),
    ...(roles.value.value?.items ?? []).map(({ metadata }) => metadata.name),
  ]);
  const give = async (): Promise<void> => {
    isBusy.value = true;
    refusal.value = await changeUser(user.metadata.name, (current) => withRole(current, wanted.value));
    isBusy.value = false;
    if (!refusal.value) onChanged();
  };
  return (
    <section class="card" aria-labelledby="role">
      <h2 id="role">{t().accountPage.role}</h2>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void give();
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
    </section>
  );
}
