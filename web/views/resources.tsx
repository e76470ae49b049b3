import { useSignal } from '@preact/signals';
import { hrefTo } from '../app/address.ts';
import { type KindResource, useKinds } from '../app/kinds.ts';
import { Loading } from '../parts/loading.tsx';
import { Title } from '../parts/title.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { t } from '../texts/text.ts';
import { Filters } from './filters.tsx';

/** The kinds that most people look for, by their names in paths. */
const FIRST: readonly string[] = [
  ...['pods', 'deployments', 'statefulsets', 'daemonsets', 'jobs', 'cronjobs', 'services', 'ingresses'],
  ...['configmaps', 'persistentvolumeclaims'],
];

/** All kinds that can be listed, those that most people look for in front. */
export function Resources() {
  const texts = t().resources;
  const polled = useKinds();
  const word = useSignal('');
  const wanted = word.value.trim().toLowerCase();
  const all = (polled.value.value?.resources ?? []).filter((kind) => matches(kind, wanted));
  const first = FIRST.flatMap((name) => all.find((kind) => kind.name === name) ?? []);
  return (
    <>
      <Title>{t().views.resources}</Title>
      <Filters>
        <label class="filter">
          {texts.find}
          <input type="search" value={word.value} onInput={({ currentTarget }) => (word.value = currentTarget.value)} />
        </label>
      </Filters>
      {polled.refusal.value && <Trouble refusal={polled.refusal.value} again={() => polled.again()} />}
      {!polled.value.value && !polled.refusal.value && (
        <p class="soft">
          <Loading />
        </p>
      )}
      {first.length > 0 && <KindList title={texts.first} kinds={first} />}
      {byGroup(all).map(([group, kinds]) => (
        <KindList key={group} title={group || t().why.coreGroup} kinds={kinds} />
      ))}
      {polled.value.value && all.length === 0 && <p class="soft">{texts.none}</p>}
    </>
  );
}

const matches = ({ name, kind, shortNames = [] }: KindResource, wanted: string): boolean =>
  [name, kind, ...shortNames].some((word) => word.toLowerCase().includes(wanted));

function byGroup(
  kinds: readonly KindResource[],
): readonly (readonly [group: string, kinds: readonly KindResource[]])[] {
  const groups = Map.groupBy(kinds, ({ group = '' }) => group);
  return [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

function KindList({ title, kinds }: { readonly title: string; readonly kinds: readonly KindResource[] }) {
  return (
    <section class="kinds">
      <h2>{title}</h2>
      <ul>
        {kinds.map(({ name, kind }) => (
          <li key={name}>
            <a
              href={name === 'nodes' || name === 'namespaces' ? hrefTo([name]) : hrefTo(['resources', name])}
              title={name}
            >
              {kind}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
