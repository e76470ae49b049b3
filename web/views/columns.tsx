import { at, type KubernetesObject, listAt, numberAt, ownOf, textAt } from '../api/objects.ts';
import { hrefTo } from '../app/address.ts';
import { hrefOfObject } from '../app/object-href.ts';
import { withCarets } from '../logs/log-text.ts';
import type { Fact } from '../parts/facts.tsx';
import { State } from '../parts/state.tsx';
import { Age } from '../parts/time.tsx';
import type { Column } from '../table/column.ts';
import { t } from '../texts/text.ts';
import { PodState } from './pod-state.tsx';
import { readyOf, restartsOf } from './pod-status.ts';
import { BUILT_IN, type PrinterColumn, printed } from './printer-columns.ts';

interface Kind {
  readonly plural: string;
  readonly isNamespaced: boolean;
  readonly printed: readonly PrinterColumn[];
}

type Cell = Column['cell'];

const text = (title: string, width: Column['width'], cell: Cell): Column => ({ id: title, title, width, cell });
const number = (title: string, width: Column['width'], cell: Cell): Column => ({
  id: title,
  title,
  width,
  cell,
  isNumber: true,
});

/** How many of the wanted replicas are ready. */
const ready =
  (readyPath: readonly string[], wantedPath: readonly string[]): Cell =>
  (object) => {
    const [now, wanted] = [numberAt(object, ...readyPath), numberAt(object, ...wantedPath)];
    return <State tone={wanted === 0 ? 'idle' : now >= wanted ? 'good' : 'warn'}>{`${now}/${wanted}`}</State>;
  };

/** The columns that say most about objects of the kinds that everybody looks at. */
const OWN: Readonly<Record<string, () => readonly Column[]>> = {
  pods: () => {
    const texts = t().columns;
    return [
      { ...text(texts.status, [10.5, 1], (pod) => <PodState pod={pod} />), sortBy: 'status' },
      number(texts.ready, [4.5], (pod) => readyOf(pod).join('/')),
      { ...number(texts.restarts, [6.5], (pod) => restartsOf(pod)), sortBy: 'restarts' },
      {
        ...text(texts.node, [8, 1], ({ spec }) => {
          const node = textAt(spec, 'nodeName');
          return node === '' ? (
            ''
          ) : (
            <a href={hrefTo(['nodes', node])} tabIndex={-1}>
              <bdi>{withCarets(node)}</bdi>
            </a>
          );
        }),
        id: 'node',
        sortBy: 'nodeName',
      },
    ];
  },
  deployments: () => [
    { ...text(t().columns.ready, [6], ready(['status', 'readyReplicas'], ['spec', 'replicas'])), sortBy: 'ready' },
    text(t().columns.images, [10, 2], imagesOf),
  ],
  statefulsets: () => [
    { ...text(t().columns.ready, [6], ready(['status', 'readyReplicas'], ['spec', 'replicas'])), sortBy: 'ready' },
    text(t().columns.images, [10, 2], imagesOf),
  ],
  replicasets: () => [text(t().columns.ready, [6], ready(['status', 'readyReplicas'], ['spec', 'replicas']))],
  daemonsets: () => [
    {
      ...text(t().columns.ready, [6], ready(['status', 'numberReady'], ['status', 'desiredNumberScheduled'])),
      sortBy: 'ready',
    },
    text(t().columns.images, [10, 2], imagesOf),
  ],
  jobs: () => [text(t().columns.completions, [7], ready(['status', 'succeeded'], ['spec', 'completions']))],
  services: () => [
    text(t().columns.type, [7], ({ spec }) => textAt(spec, 'type')),
    text('IP', [9], ({ spec }) => textAt(spec, 'clusterIP')),
    text(t().columns.ports, [7, 1], ({ spec }) =>
      listAt(spec, 'ports')
        .map((port) => `${textAt(port, 'port')}/${textAt(port, 'protocol')}`)
        .join(', '),
    ),
  ],
  persistentvolumeclaims: () => [
    text(t().columns.status, [7], ({ status }) => phase(textAt(status, 'phase'))),
    text(t().columns.capacity, [6], ({ status }) => textAt(status, 'capacity', 'storage')),
    text(t().columns.storageClass, [7, 1], ({ spec }) => textAt(spec, 'storageClassName')),
  ],
  namespaces: () => [text(t().columns.status, [8], ({ status }) => phase(textAt(status, 'phase')))],
};

/** The columns of a kind but for name, namespace and age; `asked` are those of its definition. */
const columnsOfKind = (plural: string, asked: readonly PrinterColumn[] = []): readonly Column[] =>
  ownOf(OWN, plural)?.() ??
  (ownOf(BUILT_IN, plural) ?? asked).map((column) => text(column.name, [6, 1], cellOf(column)));

/** What the table of a kind says about an object, without its name and age, for the view of the object. */
export const ownFacts = (plural: string, object: KubernetesObject): readonly Fact[] =>
  columnsOfKind(plural).map(({ title, cell }) => [title, cell(object)]);

/** The text of a column, or the age of its time. */
const cellOf =
  (column: PrinterColumn): Cell =>
  (object) => {
    const said = printed(object, column);
    return column.type === 'date' && said !== '' ? <Age since={said} /> : said && <bdi>{withCarets(said)}</bdi>;
  };

const phase = (word: string) => (word === '' ? '' : <State tone={GOOD.has(word) ? 'good' : 'warn'}>{word}</State>);

const GOOD: ReadonlySet<string> = new Set(['Bound', 'Available', 'Active']);

const imagesOf: Cell = ({ spec }) => (
  <bdi>
    {listAt(at(spec, 'template'), 'spec', 'containers')
      .map((one) => textAt(one, 'image'))
      .join(', ')}
  </bdi>
);

/** The columns of a table of objects: name, namespace, those of the kind, age. */
export function columnsOf({ plural, isNamespaced, printed: asked }: Kind): readonly Column[] {
  const own = columnsOfKind(plural, asked);
  const name: Column = {
    ...{ id: 'name', title: t().table.name, width: [12, 2], sortBy: 'name' },
    cell: (object: KubernetesObject) => (
      <a href={hrefOfObject(plural, object)} tabIndex={-1} title={object.metadata.name}>
        <bdi>{withCarets(object.metadata.name)}</bdi>
      </a>
    ),
  };
  const namespace: Column = {
    ...{ id: 'namespace', title: t().columns.namespace, width: [7, 1] },
    cell: ({ metadata }) => <bdi>{withCarets(metadata.namespace ?? '')}</bdi>,
  };
  const age: Column = {
    ...{ id: 'age', title: t().table.age, width: [5.5], sortBy: 'createTime', isNumber: true },
    cell: ({ metadata }) => <Age since={metadata.creationTimestamp} />,
  };
  return [name, ...(isNamespaced ? [namespace] : []), ...own, age];
}
