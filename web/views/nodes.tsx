import { useMemo } from 'preact/hooks';
import { textAt } from '../api/objects.ts';
import { hrefTo } from '../app/address.ts';
import { resourcesRoot, settings } from '../app/settings.ts';
import { useLiveList } from '../app/use-live.ts';
import { withCarets } from '../logs/log-text.ts';
import { Listed } from '../parts/listed.tsx';
import { Age } from '../parts/time.tsx';
import { Title } from '../parts/title.tsx';
import type { Column } from '../table/column.ts';
import { LiveTable } from '../table/live-table.tsx';
import { language, t } from '../texts/text.ts';
import { ChoiceFilter, Filters, listParameters, TextFilter } from './filters.tsx';
import { NodeState, rolesOf } from './node-state.tsx';
import { podsOf, Requested } from './usage.tsx';

const STATUSES = ['running', 'warning', 'unschedulable'] as const;

/** All nodes in one live table. */
export function Nodes() {
  const texts = t().nodes;
  const list = useLiveList(`${resourcesRoot()}/nodes`, listParameters(['name', 'status']));
  const columns = useMemo(nodeColumns, [language.value]);
  return (
    <>
      <Title>{t().views.nodes}</Title>
      <Filters>
        <TextFilter name="name" label={t().table.name} />
        <TextFilter name="labels" label={t().table.labels} placeholder="zone=a, !edge" />
        <ChoiceFilter name="status" label={texts.status} choices={STATUSES.map((word) => [word, texts.states[word]])} />
      </Filters>
      <Listed list={list} noun={texts.noun} />
      <LiveTable list={list} columns={columns} label={t().views.nodes} empty={<p>{texts.empty}</p>} />
    </>
  );
}

function nodeColumns(): readonly Column[] {
  const texts = t().nodes;
  const usage: readonly Column[] = [
    {
      id: 'cpu',
      title: texts.cpu,
      width: [7, 1],
      isFitting: true,
      cell: (node) => <Requested node={node} what="cpu" />,
    },
    {
      id: 'memory',
      title: texts.memory,
      width: [8, 1],
      isFitting: true,
      cell: (node) => <Requested node={node} what="memory" />,
    },
    { id: 'pods', title: texts.pods, width: [4.5], isNumber: true, isFitting: true, cell: podsOf },
  ];
  return [
    {
      ...{ id: 'name', title: t().table.name, width: [9.5, 2], sortBy: 'name' },
      cell: ({ metadata: { name } }) => (
        <a href={hrefTo(['nodes', name])} tabIndex={-1} title={name}>
          <bdi>{withCarets(name)}</bdi>
        </a>
      ),
    },
    {
      ...{ id: 'status', title: texts.status, width: [10.5, 1.2] },
      cell: (node) => <NodeState node={node} />,
    },
    { id: 'roles', title: texts.roles, width: [6.5, 1], cell: (node) => rolesOf(node).join(', ') },
    {
      ...{ id: 'version', title: texts.version, width: [5.5] },
      cell: ({ status }) => textAt(status, 'nodeInfo', 'kubeletVersion'),
    },
    ...(settings().features.nodeUsage ? usage : []),
    {
      ...{ id: 'age', title: t().table.age, width: [4.5], sortBy: 'createTime', isNumber: true },
      cell: ({ metadata }) => <Age since={metadata.creationTimestamp} />,
    },
  ];
}
