import { type KubernetesObject, listAt, type OwnerReference, textAt } from '../api/objects.ts';
import { hrefTo } from '../app/address.ts';
import { type KindResource, titleOf, useKinds } from '../app/kinds.ts';
import { hrefOfObject } from '../app/object-href.ts';
import { resourcesRoot } from '../app/settings.ts';
import { useLiveList, usePolled } from '../app/use-live.ts';
import type { ViewProps } from '../app/views.ts';
import { LogLinks } from '../logs/log-links.tsx';
import { withCarets } from '../logs/log-text.ts';
import { type Fact, Facts, words } from '../parts/facts.tsx';
import { Loading } from '../parts/loading.tsx';
import { Age } from '../parts/time.tsx';
import { Title } from '../parts/title.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { Yaml } from '../parts/yaml.tsx';
import { t } from '../texts/text.ts';
import { ownFacts } from './columns.tsx';
import { Conditions, toneOfCondition } from './conditions.tsx';
import { orderParameters } from './filters.tsx';
import { ObjectEvents } from './object-events.tsx';
import { ObjectTable } from './object-table.tsx';
import { PodContainers } from './pod-containers.tsx';
import { PodState } from './pod-state.tsx';

/** One object of any kind: `kind/name`, or `kind/namespace/name`. */
export function ObjectView({ parts }: ViewProps) {
  const [plural = '', ...place] = parts;
  const name = place.at(-1) ?? '';
  const namespace = place.length === 2 ? place[0] : undefined;
  const within = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  const path = `${resourcesRoot()}${within}/${encodeURIComponent(plural)}/${encodeURIComponent(name)}`;
  const polled = usePolled<KubernetesObject>(path, 5_000);
  const object = polled.value.value;
  const kinds = useKinds().value.value?.resources ?? [];
  return (
    <>
      <Title text={name}>
        <a href={hrefTo(['resources', plural], { namespace })} class="up">
          {titleOf(
            kinds.find((one) => one.name === plural),
            plural,
          )}
        </a>{' '}
        <bdi>{withCarets(name)}</bdi> {plural === 'pods' && object && <PodState pod={object} />}
        {object && namespace !== undefined && <LogLinks {...{ plural, namespace, name }} />}
      </Title>
      {polled.refusal.value && <Trouble refusal={polled.refusal.value} again={() => polled.again()} />}
      {object ? (
        <ObjectParts plural={plural} object={object} kinds={kinds} />
      ) : (
        !polled.refusal.value && (
          <p class="soft">
            <Loading />
          </p>
        )
      )}
    </>
  );
}

interface ObjectPartsProps {
  readonly plural: string;
  readonly object: KubernetesObject;
  readonly kinds: readonly KindResource[];
}

function ObjectParts({ plural, object, kinds }: ObjectPartsProps) {
  const { metadata, kind = '' } = object;
  const { name, namespace } = metadata;
  const owners = metadata.ownerReferences ?? [];
  return (
    <>
      <Facts
        facts={[
          [t().columns.namespace, namespace && <Namespace key="namespace" name={namespace} />],
          [t().columns.node, plural === 'pods' && <NodeLink key="node" name={textAt(object.spec, 'nodeName')} />],
          ...(plural === 'pods' ? podFacts(object) : ownFacts(plural, object)),
          [t().overview.podsTitle, plural === 'services' && <ServicePods key="pods" service={object} />],
          [t().object.owners, owners.length > 0 && <Owners key="owners" {...{ owners, namespace, kinds }} />],
          [t().table.age, <Age key="age" since={metadata.creationTimestamp} />],
          [t().object.deleted, metadata.deletionTimestamp && <Age key="deleted" since={metadata.deletionTimestamp} />],
          [t().table.labels, words(metadata.labels, t().more)],
          [t().table.annotations, words(metadata.annotations, t().more)],
        ]}
      />
      {plural === 'pods' && <PodContainers pod={object} />}
      <Conditions object={object} toneOf={toneOfCondition} />
      {selectorOf(object) && <SelectedPods object={object} />}
      <ObjectEvents kind={kind} name={name} namespace={namespace} />
      <h2>YAML</h2>
      <Yaml value={object} label={`YAML: ${name}`} />
    </>
  );
}

function Namespace({ name }: { readonly name: string }) {
  return (
    <a href={hrefTo(['namespaces', name])}>
      <bdi>{withCarets(name)}</bdi>
    </a>
  );
}

/** The pods behind a Service, by its selector. One without a selector selects none (docs/contract/kinds.md, KW-04). */
function ServicePods({ service: { metadata, spec } }: { readonly service: KubernetesObject }) {
  const selector = Object.entries((spec?.['selector'] ?? {}) as Readonly<Record<string, string>>);
  if (selector.length === 0) return <span class="soft">{t().none}</span>;
  const { name, namespace } = metadata;
  return (
    <a href={hrefTo(['resources', 'pods'], { serviceName: name, namespace })}>
      <bdi>{withCarets(selector.map(([key, value]) => `${key}=${value}`).join(', '))}</bdi>
    </a>
  );
}

function NodeLink({ name }: { readonly name: string }) {
  return name === '' ? (
    <span class="soft">{t().none}</span>
  ) : (
    <a href={hrefTo(['nodes', name])}>
      <bdi>{withCarets(name)}</bdi>
    </a>
  );
}

const podFacts = ({ spec, status }: KubernetesObject): readonly Fact[] => [
  [t().columns.address, textAt(status, 'podIP')],
  [t().columns.serviceAccount, textAt(spec, 'serviceAccountName')],
  [t().columns.quality, textAt(status, 'qosClass')],
];

interface OwnersProps {
  readonly owners: readonly OwnerReference[];
  readonly namespace: string | undefined;
  readonly kinds: readonly KindResource[];
}

/** Whom an object belongs to, with links to those whose kind can be listed. */
function Owners({ owners, namespace, kinds }: OwnersProps) {
  return (
    <ul>
      {owners.map(({ apiVersion, kind, name }) => {
        const group = apiVersion.includes('/') ? apiVersion.split('/')[0] : '';
        const found = kinds.find((one) => one.kind === kind && (one.group ?? '') === group);
        const place = found?.namespaced && namespace !== undefined ? { name, namespace } : { name };
        return (
          <li key={`${kind} ${name}`}>
            {kind}{' '}
            {found ? (
              <a href={hrefOfObject(found.name, { metadata: place })}>
                <bdi>{withCarets(name)}</bdi>
              </a>
            ) : (
              <bdi>{withCarets(name)}</bdi>
            )}
          </li>
        );
      })}
    </ul>
  );
}

/** The label selector of a workload as text; `undefined` for what selects no pods. */
function selectorOf({ kind, spec }: KubernetesObject): string | undefined {
  if (!['Deployment', 'StatefulSet', 'DaemonSet', 'ReplicaSet', 'Job'].includes(kind ?? '')) return undefined;
  const selector = spec?.['selector'] as { readonly matchLabels?: Readonly<Record<string, string>> } | undefined;
  const equal = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`);
  const others = listAt(selector, 'matchExpressions').map((one) => {
    const [key, operator] = [textAt(one, 'key'), textAt(one, 'operator')];
    const values = listAt(one, 'values').join(',');
    if (operator === 'Exists') return key;
    if (operator === 'DoesNotExist') return `!${key}`;
    return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values})`;
  });
  return [...equal, ...others].join(',') || undefined;
}

function SelectedPods({ object }: { readonly object: KubernetesObject }) {
  const { namespace = '' } = object.metadata;
  const list = useLiveList(`${resourcesRoot()}/namespaces/${encodeURIComponent(namespace)}/pods`, {
    labelSelector: selectorOf(object) ?? '',
    ...orderParameters(),
  });
  return (
    <section aria-labelledby="selected-pods" class="short">
      <h2 id="selected-pods">{t().overview.podsTitle}</h2>
      <ObjectTable plural="pods" list={list} label={t().overview.podsTitle} noun={t().nouns.pods} without="namespace" />
    </section>
  );
}
