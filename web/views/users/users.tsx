import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { textAt } from '../../api/objects.ts';
import type { Refusal } from '../../api/refusal.ts';
import { hrefTo } from '../../app/address.ts';
import { accountsRoot } from '../../app/settings.ts';
import { useLiveList } from '../../app/use-live.ts';
import { Listed } from '../../parts/listed.tsx';
import { Age } from '../../parts/time.tsx';
import { Title } from '../../parts/title.tsx';
import type { Column } from '../../table/column.ts';
import { LiveTable } from '../../table/live-table.tsx';
import { language, t } from '../../texts/text.ts';
import { ChoiceFilter, Filters, listParameters, TextFilter } from '../filters.tsx';
import { Invite } from './invite.tsx';
import { RolesPart } from './roles-part.tsx';
import { roleOf, useRoles } from './user-calls.ts';
import { UserState } from './user-state.tsx';

/** All users, for a reader who may list them, and the roles that they may be given. */
export function Users() {
  const texts = t().users;
  const list = useLiveList(`${accountsRoot()}/users`, listParameters(['name', 'globalrole']), { isPolled: true });
  const roles = useRoles();
  const isInviting = useSignal(false);
  const columns = useMemo(userColumns, [language.value]);
  const names = (roles.value.value?.items ?? []).map(({ metadata }) => metadata.name);
  return (
    <>
      <Title>{t().views.users}</Title>
      <Filters>
        <TextFilter name="name" label={texts.name} />
        <ChoiceFilter name="globalrole" label={texts.role} choices={names.map((name) => [name, name])} />
      </Filters>
      <section class="short roomy" aria-label={texts.noun}>
        <Listed list={list} noun={texts.noun}>
          {!isRefused(list) && (
            <button type="button" class="last" onClick={() => (isInviting.value = true)}>
              {texts.invite}
            </button>
          )}
        </Listed>
        <LiveTable list={list} columns={columns} label={t().views.users} empty={<p>{texts.empty}</p>} />
      </section>
      {!(isRefused(list) && isRefused(roles)) && <RolesPart roles={roles} />}
      {isInviting.value && (
        <Invite roles={names} onCreated={() => list.again()} onClose={() => (isInviting.value = false)} />
      )}
    </>
  );
}

/** One right that is missing is enough to say. */
const isRefused = ({ refusal }: { readonly refusal: { readonly value: Refusal | undefined } }): boolean =>
  refusal.value?.status === 403;

function userColumns(): readonly Column[] {
  const texts = t().users;
  return [
    {
      ...{ id: 'name', title: texts.name, width: [9, 1.5], sortBy: 'name' },
      cell: ({ metadata: { name } }) => (
        <a href={hrefTo(['users', name])} tabIndex={-1} title={name}>
          <bdi>{name}</bdi>
        </a>
      ),
    },
    {
      ...{ id: 'email', title: texts.email, width: [10, 2] },
      cell: ({ spec }) => <bdi>{textAt(spec, 'email')}</bdi>,
    },
    {
      ...{ id: 'role', title: texts.role, width: [8, 1] },
      cell: (user) => <bdi>{roleOf(user) || t().none}</bdi>,
    },
    { id: 'state', title: texts.state, width: [7, 0.7], cell: (user) => <UserState user={user} /> },
    {
      ...{ id: 'last', title: texts.lastSignIn, width: [7], isNumber: true },
      cell: (user) => <LastSignIn at={textAt(user.status, 'lastLoginTime')} />,
    },
    {
      ...{ id: 'age', title: t().table.age, width: [5.5], sortBy: 'createTime', isNumber: true },
      cell: ({ metadata }) => <Age since={metadata.creationTimestamp} />,
    },
  ];
}

function LastSignIn({ at }: { readonly at: string }) {
  return at === '' ? <span class="soft">{t().users.never}</span> : <Age since={at} />;
}
