import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { KubernetesObject, ObjectList } from '../../api/objects.ts';
import { hrefTo } from '../../app/address.ts';
import { person } from '../../app/session.ts';
import { resourcesRoot, settings } from '../../app/settings.ts';
import { usePolled } from '../../app/use-live.ts';
import type { Polled } from '../../live/polled.ts';
import { LogLinks } from '../../logs/log-links.tsx';
import { withCarets } from '../../logs/log-text.ts';
import { Loading } from '../../parts/loading.tsx';
import { Age, ageText } from '../../parts/time.tsx';
import { Title } from '../../parts/title.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { t } from '../../texts/text.ts';
import { NodeState, troublesOf } from '../node-state.tsx';
import { PodState, podTone } from '../pod-state.tsx';
import { type NodeSummary, SummaryBars } from '../summary-bars.tsx';
import { WarningEvents } from './warning-events.tsx';
import { WorkloadsCard } from './workloads-card.tsx';

/** Objects that need attention, shown at once. */
const SHOWN = 8;
/** Nodes that take no new pods, of which those with trouble are shown. */
const CORDONED = 20;
/** Namespaces named at once. */
const NAMED = 24;
/** From this age on, the age of data is said. */
const OLD_SECONDS = 60;

/** One look at the cluster, or at the part of it that the reader may see. */
export function Overview() {
  const { views, overview } = t();
  const { user = '', groups = [] } = person.value ?? {};
  return (
    <>
      <Title>{views.overview}</Title>
      <div class="cards">
        <NodesCard />
        {settings().features.kinds && <PodsCard />}
        {settings().features.kinds && <WorkloadsCard />}
        <NamespacesCard />
        <section class="card" aria-labelledby="who">
          <h2 id="who">{overview.you}</h2>
          <div class="figure">
            <bdi>{user}</bdi>
          </div>
          <p class="soft">{groups.join(', ') || overview.noGroups}</p>
        </section>
        <WarningEvents />
      </div>
    </>
  );
}

function useCount(plural: string, parameters: Readonly<Record<string, string>>): Polled<ObjectList> {
  return usePolled<ObjectList>(`${resourcesRoot()}/${plural}?${new URLSearchParams({ limit: '1', ...parameters })}`);
}

const totalOf = ({ value }: Polled<ObjectList>): number | undefined => value.value?.totalItems;

interface CardProps {
  readonly id: string;
  readonly title: string;
  readonly href: string;
  /** The answer that the others depend on: what is wrong with it is said, and its age. */
  readonly counted: Polled<unknown>;
  readonly children: ComponentChildren;
}

function Card({ id, title, href, counted, children }: CardProps) {
  const { value, refusal, age } = counted;
  return (
    <section class="card" aria-labelledby={id}>
      <h2 id={id}>
        <a href={href}>{title}</a>
        {age.value > OLD_SECONDS && <span class="old"> {t().table.old(ageText(age.value))}</span>}
      </h2>
      {refusal.value && <Trouble refusal={refusal.value} again={() => counted.again()} />}
      {value.value
        ? children
        : !refusal.value && (
            <p class="soft">
              <Loading />
            </p>
          )}
    </section>
  );
}

function NodesCard() {
  const summary = usePolled<NodeSummary>(`${resourcesRoot()}/nodesummary`);
  return (
    <Card id="nodes" title={t().views.nodes} href={hrefTo(['nodes'])} counted={summary}>
      {summary.value.value && <NodeCounts summary={summary.value.value} />}
    </Card>
  );
}

function NodeCounts({ summary }: { readonly summary: NodeSummary }) {
  const texts = t().overview;
  const { total, running, warning, unschedulable } = summary.nodes;
  return (
    <>
      <div class="figure">{texts.ready(running, total)}</div>
      <SummaryBars summary={summary} />
      {unschedulable > 0 && (
        <p>
          <a href={hrefTo(['nodes'], { status: 'unschedulable' })}>{texts.cordoned(unschedulable)}</a>
        </p>
      )}
      <NodesInNeed warning={warning} cordoned={unschedulable} />
    </>
  );
}

/** The first nodes that need attention: of those that take no new pods, the ones with which something is wrong. Each list is asked for only while it has some. */
function NodesInNeed({ warning, cordoned }: { readonly warning: number; readonly cordoned: number }) {
  const [ill, setIll] = useState(0);
  if (warning === 0 && cordoned === 0) return <p class="soft">{t().overview.allWell}</p>;
  return (
    <>
      {warning > 0 && (
        <h3>
          <a href={hrefTo(['nodes'], { status: 'warning' })}>{t().overview.attention(warning)}</a>
        </h3>
      )}
      {warning > 0 && <NodeLines status="warning" limit={SHOWN} />}
      {cordoned > 0 && <NodeLines status="unschedulable" limit={CORDONED} onCount={setIll} />}
      {warning === 0 && ill === 0 && <p class="soft">{t().overview.allWell}</p>}
    </>
  );
}

interface NodeLinesProps {
  readonly status: 'warning' | 'unschedulable';
  readonly limit: number;
  /** Hears how many of them something is wrong with. */
  onCount?(count: number): void;
}

/** The nodes of this status with which something is wrong. */
function NodeLines({ status, limit, onCount }: NodeLinesProps) {
  const listed = useCount('nodes', { status, limit: `${limit}` });
  const ill = (listed.value.value?.items ?? []).filter((node) => troublesOf(node).length > 0);
  useEffect(() => onCount?.(ill.length), [onCount, ill.length]);
  return (
    <>
      {listed.refusal.value && <Trouble refusal={listed.refusal.value} again={() => listed.again()} />}
      {ill.length > 0 && (
        <ul class="attention">
          {ill.slice(0, SHOWN).map((node) => (
            <NodeLine key={node.metadata.uid} node={node} />
          ))}
        </ul>
      )}
    </>
  );
}

function NodeLine({ node }: { readonly node: KubernetesObject }) {
  return (
    <li>
      <NodeState node={node} />
      <span>
        <a href={hrefTo(['nodes', node.metadata.name])}>
          <bdi>{withCarets(node.metadata.name)}</bdi>
        </a>
      </span>
      {[...new Map(troublesOf(node).map((trouble) => [trouble.message, trouble])).values()].map(
        ({ condition, reason, message, since }) => (
          <p key={condition} class="soft">
            {withCarets([reason, message].filter((part) => part !== '').join(': '))} <Age since={since} />
          </p>
        ),
      )}
    </li>
  );
}

function PodsCard() {
  const texts = t().overview;
  const all = useCount('pods', {});
  const failed = useCount('pods', { status: 'Error', limit: `${SHOWN}` });
  const waiting = useCount('pods', { status: 'Waiting', limit: `${SHOWN}` });
  // What is wrong with the list of all pods is said by the card.
  const refused = all.refusal.value ? undefined : [failed, waiting].find(({ refusal }) => refusal.value);
  const inNeed = [...(failed.value.value?.items ?? []), ...(waiting.value.value?.items ?? [])];
  const shown = inNeed.toSorted((a, b) => urgencyOf(b) - urgencyOf(a)).slice(0, SHOWN);
  const others = (totalOf(failed) ?? 0) + (totalOf(waiting) ?? 0) - shown.length;
  return (
    <Card id="pods" title={texts.podsTitle} href={hrefTo(['resources', 'pods'])} counted={all}>
      <div class="figure">{texts.pods(totalOf(all) ?? 0)}</div>
      {refused?.refusal.value && <Trouble refusal={refused.refusal.value} isQuiet again={() => refused.again()} />}
      <p>
        {failed.value.value && <PodCount status="Error" count={failed.value.value.totalItems} said={texts.failed} />}
        {failed.value.value && waiting.value.value && ' · '}
        {waiting.value.value && (
          <PodCount status="Waiting" count={waiting.value.value.totalItems} said={texts.waiting} />
        )}
      </p>
      <ul class="attention">
        {shown.map((pod) => (
          <li key={pod.metadata.uid}>
            <PodState pod={pod} /> <bdi class="soft">{withCarets(pod.metadata.namespace ?? '')}</bdi>
            <p>
              <a href={hrefTo(['resources', 'pods', pod.metadata.namespace ?? '', pod.metadata.name])}>
                <bdi>{withCarets(pod.metadata.name)}</bdi>
              </a>{' '}
              <LogLinks isShort plural="pods" namespace={pod.metadata.namespace ?? ''} name={pod.metadata.name} />
            </p>
          </li>
        ))}
        {others > 0 && <li class="soft">{t().more.replace('%', String(others))}</li>}
      </ul>
    </Card>
  );
}

/** What has gone wrong comes first, then what only takes its time, then what goes away anyway. */
function urgencyOf(pod: KubernetesObject): number {
  return { bad: 2, warn: 1, good: 0, idle: 0 }[podTone(pod)];
}

interface PodCountProps {
  readonly status: 'Error' | 'Waiting';
  readonly count: number;
  said(count: number): string;
}

function PodCount({ status, count, said }: PodCountProps) {
  return count === 0 ? (
    <span class="soft">{said(count)}</span>
  ) : (
    <a href={hrefTo(['resources', 'pods'], { status })}>{said(count)}</a>
  );
}

function NamespacesCard() {
  const permitted = useCount('namespaces', { permitted: 'true', sortBy: 'name', ascending: 'true', limit: `${NAMED}` });
  const items = permitted.value.value?.items ?? [];
  const others = (totalOf(permitted) ?? 0) - items.length;
  return (
    <Card id="namespaces" title={t().views.namespaces} href={hrefTo(['namespaces'])} counted={permitted}>
      <div class="figure">{t().overview.namespaces(totalOf(permitted) ?? 0)}</div>
      <ul class="links">
        {items.map(({ metadata: { uid, name } }) => (
          <li key={uid}>
            <a href={hrefTo(['namespaces', name])}>
              <bdi>{withCarets(name)}</bdi>
            </a>
          </li>
        ))}
        {others > 0 && <li class="soft">{t().more.replace('%', String(others))}</li>}
      </ul>
    </Card>
  );
}
