import { at, type KubernetesObject, listAt, ownOf, textAt } from '../api/objects.ts';
import { State } from '../parts/state.tsx';
import { t } from '../texts/text.ts';

/** The conditions that count for the status word of a node, with the value that is healthy (docs/contract/nodes.md, section 5). */
const HEALTHY: Readonly<Record<string, string>> = {
  ...{ MemoryPressure: 'False', DiskPressure: 'False', PIDPressure: 'False', NetworkUnavailable: 'False' },
  ...{ Ready: 'True', KubeletReady: 'True', ConfigOK: 'True' },
};

export interface NodeTrouble {
  readonly condition: string;
  readonly reason: string;
  readonly message: string;
  readonly since: string;
}

/** What is wrong with a node, by its conditions. */
export const troublesOf = (node: KubernetesObject): readonly NodeTrouble[] =>
  listAt(node.status, 'conditions')
    .filter((condition) => isUnhealthy(condition))
    .map((condition) => ({
      condition: `${textAt(condition, 'type')}=${textAt(condition, 'status')}`,
      reason: textAt(condition, 'reason'),
      message: textAt(condition, 'message'),
      since: textAt(condition, 'lastTransitionTime'),
    }));

export function isUnhealthy(condition: unknown): boolean {
  const healthy = ownOf(HEALTHY, textAt(condition, 'type'));
  return healthy !== undefined && textAt(condition, 'status') !== healthy;
}

/** What is wrong with a node, also with one that takes no new pods: the word of the API would hide that (docs/contract/nodes.md, section 5). */
export function NodeState({ node }: { readonly node: KubernetesObject }) {
  const texts = t().nodes.states;
  const isCordoned = at(node.spec, 'unschedulable') === true;
  const troubles = troublesOf(node);
  if (troubles.length === 0)
    return <State tone={isCordoned ? 'idle' : 'good'}>{isCordoned ? texts.unschedulable : texts.running}</State>;
  // A node whose kubelet is silent has every condition unknown: that it is not ready says it all.
  const [worst] = troubles.filter(({ condition }) => condition.startsWith('Ready=')).concat(troubles);
  const others = troubles.length - 1;
  return (
    <State tone="bad">
      {worst?.condition}
      {others > 0 && <span class="soft"> +{others}</span>}
      {isCordoned && <span class="soft"> · {texts.unschedulable}</span>}
    </State>
  );
}

/** The roles in the labels of a node. */
export function rolesOf({ metadata: { labels = {} } }: KubernetesObject): readonly string[] {
  const roles = Object.entries(labels).flatMap(([key, value]) => {
    if (key.startsWith('node-role.kubernetes.io/')) return key.slice('node-role.kubernetes.io/'.length) || [];
    return key === 'kubernetes.io/role' ? value : [];
  });
  return [...new Set(roles)].toSorted();
}
