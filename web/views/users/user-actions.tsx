import { useSignal } from '@preact/signals';
import { type KubernetesObject, textAt } from '../../api/objects.ts';
import type { Refusal } from '../../api/refusal.ts';
import { go, hrefTo } from '../../app/address.ts';
import { person } from '../../app/session.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { t } from '../../texts/text.ts';
import { SetPassword } from './set-password.tsx';
import { changeUser, removeUser, withState } from './user-calls.ts';

interface UserActionsProps {
  readonly user: KubernetesObject;
  onChanged(): void;
}

type Asked = 'disable' | 'remove' | 'password' | undefined;

/** What an administrator may do with a user. Nobody shuts themselves out. */
export function UserActions({ user, onChanged }: UserActionsProps) {
  const texts = t().users;
  const { name } = user.metadata;
  const state = textAt(user.status, 'state');
  const asked = useSignal<Asked>(undefined);
  const refusal = useSignal<Refusal | undefined>(undefined);
  const close = (): void => {
    asked.value = undefined;
  };
  const activate = async (): Promise<void> => {
    refusal.value = await changeUser(name, (current) => withState(current, 'Active'));
    onChanged();
  };
  const isOwn = name === person.value?.user;
  return (
    <section class="card" aria-labelledby="actions">
      <h2 id="actions">{texts.actions}</h2>
      {isOwn && <p class="soft">{texts.itIsYou}</p>}
      {state === 'AuthLimitExceeded' && <p>{texts.unlockMeans}</p>}
      {refusal.value && <Trouble refusal={refusal.value} />}
      <p class="actions">
        {state === 'AuthLimitExceeded' && (
          <button type="button" onClick={() => void activate()}>
            {texts.unlock}
          </button>
        )}
        {state === 'Disabled' && (
          <button type="button" onClick={() => void activate()}>
            {texts.enable}
          </button>
        )}
        {!isOwn && (
          <>
            <button type="button" onClick={() => (asked.value = 'password')}>
              {texts.setPassword}
            </button>
            {state !== 'Disabled' && (
              <button type="button" class="danger" onClick={() => (asked.value = 'disable')}>
                {texts.disable}
              </button>
            )}
            <button type="button" class="danger" onClick={() => (asked.value = 'remove')}>
              {texts.remove}
            </button>
          </>
        )}
      </p>
      <AskedFor {...{ name, asked: asked.value, onChanged, onClose: close }} />
    </section>
  );
}

interface AskedForProps {
  readonly name: string;
  readonly asked: Asked;
  onChanged(): void;
  onClose(): void;
}

/** The dialog of what was asked for. */
function AskedFor({ name, asked, onChanged, onClose }: AskedForProps) {
  const texts = t().users;
  const disable = async (): Promise<Refusal | undefined> => {
    const refusal = await changeUser(name, (current) => withState(current, 'Disabled'));
    if (!refusal) onChanged();
    return refusal;
  };
  const remove = async (): Promise<Refusal | undefined> => {
    const refusal = await removeUser(name);
    if (!refusal) go(hrefTo(['users']), { replace: true });
    return refusal;
  };
  if (asked === 'disable')
    return (
      <Confirm title={`${texts.disable}: ${name}`} action={texts.disable} act={disable} onClose={onClose}>
        <p>{texts.disableMeans(name)}</p>
      </Confirm>
    );
  if (asked === 'remove')
    return (
      <Confirm title={`${texts.remove}: ${name}`} action={texts.remove} typed={name} act={remove} onClose={onClose}>
        <p>{texts.removeMeans(name)}</p>
      </Confirm>
    );
  return asked === 'password' ? <SetPassword name={name} onSet={onChanged} onClose={onClose} /> : null;
}
