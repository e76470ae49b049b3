import { useMemo, useRef } from 'preact/hooks';
import { type KubernetesObject, type ObjectList, ownOf } from '../api/objects.ts';
import { address, hrefTo } from '../app/address.ts';
import { fullName, type KindResource, titleOf, useKinds } from '../app/kinds.ts';
import { resourcesRoot } from '../app/settings.ts';
import { useLiveList, usePolled } from '../app/use-live.ts';
import type { ViewProps } from '../app/views.ts';
import { Title } from '../parts/title.tsx';
import { t } from '../texts/text.ts';
import { ChoiceFilter, Filters, listParameters, TextFilter } from './filters.tsx';
import { ObjectTable } from './object-table.tsx';
import { printerColumnsOf } from './printer-columns.ts';

/** The words of the filter `status` of the kinds that have it (docs/contract/kinds.md, KW-). */
const STATUSES: Readonly<Record<string, readonly string[]>> = {
  pods: ['Running', 'Waiting', 'Error', 'Completed'],
  deployments: ['running', 'updating', 'stopped'],
  statefulsets: ['running', 'updating', 'stopped'],
  daemonsets: ['running', 'updating', 'stopped'],
  jobs: ['running', 'completed', 'failed'],
  cronjobs: ['running', 'paused'],
  persistentvolumes: ['Available', 'Bound', 'Released', 'Pending', 'Failed'],
  persistentvolumeclaims: ['Bound', 'Pending', 'Lost'],
};

/** The objects of one kind, over all that the reader may see. */
export function ResourceList({ parts: [plural = ''] }: ViewProps) {
  const kind = useKinds().value.value?.resources.find((one) => one.name === plural || fullName(one) === plural);
  const namespace = address.value.parameters['namespace'] ?? '';
  const statuses = ownOf(STATUSES, plural);
  const names = ['name', ...(statuses ? ['status'] : []), ...(plural === 'pods' ? ['nodeName', 'serviceName'] : [])];
  // A filter that few need is there once a link has set it, and does not go while somebody types in it.
  const hasService = useRef(false);
  hasService.current ||= plural === 'pods' && address.value.parameters['serviceName'] !== undefined;
  const place = namespace === '' ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  const title = titleOf(kind, plural);
  const namespaces = useNamespaceNames();
  const list = useLiveList(`${resourcesRoot()}${place}/${encodeURIComponent(plural)}`, listParameters(names));
  return (
    <>
      <Title text={title}>
        <a href={hrefTo(['resources'])} class="up">
          {t().views.resources}
        </a>{' '}
        {title}
      </Title>
      <Filters>
        <TextFilter name="name" label={t().table.name} />
        {kind?.namespaced !== false && (
          <TextFilter
            name="namespace"
            label={t().columns.namespace}
            placeholder={t().table.wholeName}
            suggestions={namespaces}
          />
        )}
        <TextFilter name="labels" label={t().table.labels} placeholder="app=web, !canary" />
        {plural === 'pods' && <TextFilter name="nodeName" label={t().columns.node} placeholder={t().table.wholeName} />}
        {hasService.current && (
          <TextFilter name="serviceName" label={t().columns.service} placeholder={t().table.wholeName} />
        )}
        {statuses && (
          <ChoiceFilter name="status" label={t().columns.status} choices={statuses.map((word) => [word, word])} />
        )}
      </Filters>
      {kind && isCustom(kind) ? (
        <CustomTable kind={kind} plural={plural} list={list} />
      ) : (
        <ObjectTable
          plural={plural}
          list={list}
          label={title}
          noun={plural}
          isNamespaced={(kind?.namespaced ?? true) && namespace === ''}
        />
      )}
    </>
  );
}

/** The names of the first namespaces that the reader may see. */
const useNamespaceNames = (): readonly string[] =>
  (usePolled<ObjectList>(`${resourcesRoot()}/namespaces?${NAMED}`, 60_000).value.value?.items ?? []).map(
    ({ metadata }) => metadata.name,
  );

const NAMED = new URLSearchParams({ permitted: 'true', sortBy: 'name', ascending: 'true', limit: '200' });

/** The groups of Kubernetes itself that have a dot. Projects of Kubernetes, such as the Gateway API, have theirs below `k8s.io` too. */
const OWN_GROUPS: ReadonlySet<string> = new Set(
  [
    ...['admissionregistration', 'apiextensions', 'authentication', 'authorization', 'certificates', 'coordination'],
    ...[
      'discovery',
      'events',
      'flowcontrol.apiserver',
      'internal.apiserver',
      'networking',
      'node',
      'rbac.authorization',
    ],
    ...['resource', 'scheduling', 'storage', 'storagemigration'],
  ].map((group) => `${group}.k8s.io`),
);

/** Groups of custom resources have a dot, and are not those of Kubernetes itself. */
const isCustom = ({ group = '' }: KindResource): boolean => group.includes('.') && !OWN_GROUPS.has(group);

interface CustomTableProps {
  readonly kind: KindResource;
  readonly plural: string;
  readonly list: ReturnType<typeof useLiveList>;
}

/** A table with the columns that the definition asks for, where the reader may read it. */
function CustomTable({ kind, plural, list }: CustomTableProps) {
  const path = `${resourcesRoot()}/customresourcedefinitions/${encodeURIComponent(fullName(kind))}`;
  const definition = usePolled<KubernetesObject>(path, 300_000).value.value;
  const printed = useMemo(
    () => definition && printerColumnsOf(definition, kind.version ?? ''),
    [definition, kind.version],
  );
  return <ObjectTable {...{ plural, list, printed, label: kind.kind, noun: plural, isNamespaced: kind.namespaced }} />;
}
