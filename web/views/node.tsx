import { at, type KubernetesObject, listAt, textAt } from '../api/objects.ts';
import { bytesText, parseQuantity } from '../api/quantity.ts';
import { hrefTo } from '../app/address.ts';
import { resourcesRoot, settings } from '../app/settings.ts';
import { useLiveList, usePolled } from '../app/use-live.ts';
import type { ViewProps } from '../app/views.ts';
import { withCarets } from '../logs/log-text.ts';
import { type Fact, Facts, words } from '../parts/facts.tsx';
import { Loading } from '../parts/loading.tsx';
import { Age } from '../parts/time.tsx';
import { Title } from '../parts/title.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { Yaml } from '../parts/yaml.tsx';
import { t } from '../texts/text.ts';
import { Conditions } from './conditions.tsx';
import { orderParameters } from './filters.tsx';
import { isUnhealthy, NodeState, rolesOf } from './node-state.tsx';
import { ObjectEvents } from './object-events.tsx';
import { ObjectTable } from './object-table.tsx';
import { podsOf, Requested } from './usage.tsx';

/** One node: what it says about itself, its pods, its events, and all of it as YAML. */
export function Node({ parts: [name = ''] }: ViewProps) {
  const polled = usePolled<KubernetesObject>(`${resourcesRoot()}/nodes/${encodeURIComponent(name)}`, 5_000);
  const node = polled.value.value;
  return (
    <>
      <Title text={name}>
        <a href={hrefTo(['nodes'])} class="up">
          {t().views.nodes}
        </a>{' '}
        <bdi>{withCarets(name)}</bdi> {node && <NodeState node={node} />}
      </Title>
      {polled.refusal.value && <Trouble refusal={polled.refusal.value} again={() => polled.again()} />}
      {node ? (
        <NodeParts node={node} />
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

function NodeParts({ node }: { readonly node: KubernetesObject }) {
  const { name } = node.metadata;
  return (
    <>
      <NodeFacts node={node} />
      <Conditions object={node} toneOf={(condition) => (isUnhealthy(condition) ? 'bad' : 'good')} />
      {settings().features.kinds && <NodePods name={name} />}
      <ObjectEvents kind="Node" name={name} />
      <Images node={node} />
      <h2>YAML</h2>
      <Yaml value={node} label={`YAML: ${name}`} />
    </>
  );
}

function NodeFacts({ node }: { readonly node: KubernetesObject }) {
  const texts = t().nodes;
  const { metadata, spec, status } = node;
  const info = (member: string): string => textAt(status, 'nodeInfo', member);
  const taints = listAt(spec, 'taints').map((taint) => {
    const value = textAt(taint, 'value');
    return `${textAt(taint, 'key')}${value === '' ? '' : `=${value}`}:${textAt(taint, 'effect')}`;
  });
  const addresses = listAt(status, 'addresses').map((one) => `${textAt(one, 'address')} (${textAt(one, 'type')})`);
  const usage: readonly Fact[] = settings().features.nodeUsage
    ? [
        [texts.cpu, <Requested key="cpu" node={node} what="cpu" />],
        [texts.memory, <Requested key="memory" node={node} what="memory" />],
        [texts.pods, podsOf(node)],
      ]
    : [[texts.podsAllowed, textAt(status, 'allocatable', 'pods')]];
  return (
    <Facts
      facts={[
        [texts.roles, rolesOf(node).join(', ')],
        ...usage,
        [texts.version, info('kubeletVersion')],
        [texts.system, [info('osImage'), info('kernelVersion'), info('architecture')].filter(Boolean).join(' · ')],
        [texts.runtime, info('containerRuntimeVersion')],
        [texts.addresses, addresses.join(', ')],
        [texts.taints, taints.join(', ')],
        [t().table.age, <Age key="age" since={metadata.creationTimestamp} />],
        [t().table.labels, words(metadata.labels, t().more)],
        [t().table.annotations, words(metadata.annotations, t().more)],
      ]}
    />
  );
}

function NodePods({ name }: { readonly name: string }) {
  const list = useLiveList(`${resourcesRoot()}/pods`, { nodeName: name, ...orderParameters() });
  return (
    <section aria-labelledby="node-pods" class="short">
      <h2 id="node-pods">
        <a href={hrefTo(['resources', 'pods'], { nodeName: name })} aria-label={`${t().overview.podsTitle}: ${name}`}>
          {t().overview.podsTitle}
        </a>
      </h2>
      <ObjectTable plural="pods" list={list} label={t().overview.podsTitle} noun={t().nouns.pods} without="node" />
    </section>
  );
}

function Images({ node }: { readonly node: KubernetesObject }) {
  const images = listAt(node.status, 'images');
  if (images.length === 0) return null;
  return (
    <details>
      <summary>{t().nodes.images(images.length)}</summary>
      <ul class="plain">
        {images.map((image) => {
          const names = listAt(image, 'names').map(String);
          const size = at(image, 'sizeBytes');
          return (
            <li key={names[0]}>
              <bdi>{withCarets(names.at(-1) ?? '')}</bdi>{' '}
              <span class="soft">{typeof size === 'number' ? bytesText(parseQuantity(String(size)) ?? 0) : ''}</span>
            </li>
          );
        })}
      </ul>
    </details>
  );
}
