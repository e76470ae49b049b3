import { type KubernetesObject, numberAt, type ObjectList } from '../../api/objects.ts';
import { hrefTo } from '../../app/address.ts';
import { hrefOfObject } from '../../app/object-href.ts';
import { resourcesRoot } from '../../app/settings.ts';
import { usePolled } from '../../app/use-live.ts';
import type { Polled } from '../../live/polled.ts';
import { LogLinks } from '../../logs/log-links.tsx';
import { withCarets } from '../../logs/log-text.ts';
import { Loading } from '../../parts/loading.tsx';
import { State } from '../../parts/state.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { t } from '../../texts/text.ts';

type Count = (workload: KubernetesObject) => number;

interface WorkloadKind {
  readonly plural: string;
  readonly title: string;
  readonly ready: Count;
  readonly wanted: Count;
}

/** What the server's word `updating` compares (docs/contract/kinds.md, KW-05, KW-07 and KW-08). During an update a deployment wants more than `spec.replicas`. */
const KINDS: readonly WorkloadKind[] = [
  {
    ...{ plural: 'deployments', title: 'Deployments' },
    ready: ({ status }) => numberAt(status, 'readyReplicas'),
    wanted: ({ status }) => numberAt(status, 'replicas'),
  },
  {
    ...{ plural: 'statefulsets', title: 'StatefulSets' },
    ready: ({ status }) => numberAt(status, 'readyReplicas'),
    wanted: ({ spec }) => numberAt(spec, 'replicas'),
  },
  {
    ...{ plural: 'daemonsets', title: 'DaemonSets' },
    ready: ({ status }) => numberAt(status, 'numberReady'),
    wanted: ({ status }) => numberAt(status, 'desiredNumberScheduled'),
  },
];

/** Shown of each kind. */
const SHOWN = 4;
const EVERY_MS = 30_000;

/** Those with pods that are not ready, and those without pods, of one kind. */
function useNotReady(plural: string): Readonly<Record<'updating' | 'stopped', Polled<ObjectList>>> {
  const list = (status: string, limit: number): string =>
    `${resourcesRoot()}/${plural}?${new URLSearchParams({ status, limit: `${limit}` })}`;
  return {
    updating: usePolled<ObjectList>(list('updating', SHOWN), EVERY_MS),
    stopped: usePolled<ObjectList>(list('stopped', 1), EVERY_MS),
  };
}

/** Deployments, stateful sets and daemon sets whose pods are not all ready: how many, and the first of them. */
export function WorkloadsCard() {
  const texts = t().workloads;
  const kinds = KINDS.map((kind) => ({ ...kind, ...useNotReady(kind.plural) }));
  const asked = kinds.flatMap(({ updating, stopped }) => [updating, stopped]);
  const refused = asked.find(({ refusal }) => refusal.value);
  const isComplete = asked.every(({ value }) => value.value !== undefined);
  const found = kinds.filter(({ updating, stopped }) => totalOf(updating) + totalOf(stopped) > 0);
  return (
    <section class="card" aria-labelledby="workloads">
      <h2 id="workloads">{texts.title}</h2>
      {refused?.refusal.value && <Trouble refusal={refused.refusal.value} isQuiet again={() => refused.again()} />}
      {!isComplete && !refused && (
        <p class="soft">
          <Loading />
        </p>
      )}
      {isComplete && found.length === 0 && <p class="soft">{texts.all}</p>}
      {found.map((one) => (
        <KindInNeed key={one.plural} {...one} />
      ))}
    </section>
  );
}

const totalOf = ({ value }: Polled<ObjectList>): number => value.value?.totalItems ?? 0;

function KindInNeed(props: WorkloadKind & ReturnType<typeof useNotReady>) {
  const { plural, title, ready, wanted, updating, stopped } = props;
  const counts = [
    ['updating', totalOf(updating)],
    ['stopped', totalOf(stopped)],
  ] as const;
  return (
    <>
      <p>
        {title}:{' '}
        {counts
          .filter(([, count]) => count > 0)
          .map(([status, count], place) => (
            <span key={status}>
              {place > 0 && ' · '}
              <a href={hrefTo(['resources', plural], { status })}>{t().workloads[status](count)}</a>
            </span>
          ))}
      </p>
      <ul class="attention">
        {updating.value.value?.items.map((workload) => {
          const { uid, name, namespace = '' } = workload.metadata;
          return (
            <li key={uid}>
              <State tone="warn">{`${ready(workload)}/${wanted(workload)}`}</State>{' '}
              <bdi class="soft">{withCarets(namespace)}</bdi>
              <p>
                <a href={hrefOfObject(plural, workload)}>
                  <bdi>{withCarets(name)}</bdi>
                </a>{' '}
                <LogLinks isShort plural={plural} namespace={namespace} name={name} />
              </p>
            </li>
          );
        })}
      </ul>
    </>
  );
}
