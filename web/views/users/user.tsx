import { type KubernetesObject, listAt, textAt } from '../../api/objects.ts';
import { hrefTo } from '../../app/address.ts';
import { usePolled } from '../../app/use-live.ts';
import type { ViewProps } from '../../app/views.ts';
import { Facts } from '../../parts/facts.tsx';
import { Loading } from '../../parts/loading.tsx';
import { State } from '../../parts/state.tsx';
import { Age } from '../../parts/time.tsx';
import { Title } from '../../parts/title.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { t } from '../../texts/text.ts';
import { SignIns } from '../account/sign-ins.tsx';
import { RoleForm } from './role-form.tsx';
import { UserActions } from './user-actions.tsx';
import { mustChoosePassword, passwordChangeOf, roleOf, userPath } from './user-calls.ts';
import { UserState } from './user-state.tsx';

/** One user: what is known of them, what an administrator may do, and their sign-ins. */
export function User({ parts: [name = ''] }: ViewProps) {
  const polled = usePolled<KubernetesObject>(userPath(name));
  const user = polled.value.value;
  return (
    <>
      <Title text={name}>
        <a href={hrefTo(['users'])} class="up">
          {t().views.users}
        </a>{' '}
        <bdi>{name}</bdi> {user && <UserState user={user} />}
      </Title>
      {polled.refusal.value && <Trouble refusal={polled.refusal.value} again={() => polled.again()} />}
      {!user && !polled.refusal.value && (
        <p class="soft">
          <Loading />
        </p>
      )}
      {user && (
        <>
          <UserFacts user={user} />
          <div class="cards">
            <RoleForm key={roleOf(user)} user={user} onChanged={() => polled.again()} />
            <UserActions user={user} onChanged={() => polled.again()} />
          </div>
          <SignIns user={name} />
        </>
      )}
    </>
  );
}

function UserFacts({ user }: { readonly user: KubernetesObject }) {
  const texts = t().users;
  const { metadata, spec, status } = user;
  const last = textAt(status, 'lastLoginTime');
  const changed = passwordChangeOf(user);
  return (
    <Facts
      facts={[
        [texts.email, <bdi key="email">{textAt(spec, 'email') || t().none}</bdi>],
        [texts.displayName, textAt(spec, 'displayName')],
        [texts.description, textAt(spec, 'description')],
        [texts.language, textAt(spec, 'lang')],
        [t().accountPage.groups, <bdi key="groups">{listAt(spec, 'groups').join(', ') || t().overview.noGroups}</bdi>],
        [texts.role, <bdi key="role">{roleOf(user) || texts.noRole}</bdi>],
        [texts.since, <Age key="since" since={textAt(status, 'lastTransitionTime')} />],
        [texts.reason, textAt(status, 'reason')],
        [texts.lastSignIn, last === '' ? texts.never : <Age key="last" since={last} />],
        [
          t().accountPage.password,
          mustChoosePassword(user) && (
            <State key="first" tone="warn">
              {texts.firstPassword}
            </State>
          ),
        ],
        [texts.passwordChanged, changed !== '' && <Age key="changed" since={changed} />],
        [t().table.age, <Age key="age" since={metadata.creationTimestamp} />],
      ]}
    />
  );
}
