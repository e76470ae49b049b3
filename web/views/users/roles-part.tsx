import { type KubernetesObject, listAt, type ObjectList, ownOf } from '../../api/objects.ts';
import type { Polled } from '../../live/polled.ts';
import { withCarets } from '../../logs/log-text.ts';
import { Trouble } from '../../parts/trouble.tsx';
import { t } from '../../texts/text.ts';
import { allowedBy, type RoleRule } from './role-words.ts';

/** The platform roles, with what each of them allows. */
export function RolesPart({ roles }: { readonly roles: Polled<ObjectList> }) {
  const texts = t().roles;
  const { value: list } = roles.value;
  return (
    <section aria-labelledby="roles">
      <h2 id="roles">{texts.title}</h2>
      <p class="soft">{texts.means}</p>
      {roles.refusal.value && <Trouble refusal={roles.refusal.value} again={() => roles.again()} />}
      {list && (
        <div class="scrolled">
          <table aria-labelledby="roles">
            <thead>
              <tr>
                <th scope="col">{texts.name}</th>
                <th scope="col">{texts.allows}</th>
              </tr>
            </thead>
            <tbody>
              {list.items.map((role) => (
                <RoleRow key={role.metadata.name} role={role} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function RoleRow({ role }: { readonly role: KubernetesObject }) {
  const texts = t().roles;
  const { name } = role.metadata;
  const known = ownOf(texts.known, name);
  const allowed = allowedBy(listAt(role, 'rules') as readonly RoleRule[]);
  return (
    <tr>
      <th scope="row">
        <bdi>{withCarets(name)}</bdi>
      </th>
      <td>
        {known && <p>{known}</p>}
        {allowed.length === 0 && !known && <p>{texts.nothing}</p>}
        <ul class="soft">
          {allowed.map(({ verbs, what, names }) => (
            <li key={`${verbs} ${what} ${names}`}>
              {verbs.map((verb) => ownOf(texts.verbs, verb) ?? verb).join(', ')}:{' '}
              <bdi>{withCarets(what.replace(/^\*/, texts.all))}</bdi>
              {names.length > 0 && `, ${texts.only(names.join(', '))}`}
            </li>
          ))}
        </ul>
      </td>
    </tr>
  );
}
