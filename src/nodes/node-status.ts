import { asArray, asObject } from '../kubernetes/json.ts';
import type { KubernetesObject } from '../kubernetes/object.ts';

export const NODE_STATUS_WORDS = ['running', 'warning', 'unschedulable'] as const;

export type NodeStatusWord = (typeof NODE_STATUS_WORDS)[number];

/** The condition types that count, each with its healthy value. */
const HEALTHY: ReadonlyMap<unknown, string> = new Map([
  ['MemoryPressure', 'False'],
  ['DiskPressure', 'False'],
  ['PIDPressure', 'False'],
  ['NetworkUnavailable', 'False'],
  ['Ready', 'True'],
  ['KubeletReady', 'True'],
  ['ConfigOK', 'True'],
]);

/** The word that the `status` filter compares. Conditions of other types are ignored, odd members too. */
export function nodeStatusWord(node: KubernetesObject): NodeStatusWord {
  if (asObject(node['spec'])['unschedulable'] === true) return 'unschedulable';
  return asArray(asObject(node['status'])['conditions']).some(isUnhealthy) ? 'warning' : 'running';
}

function isUnhealthy(condition: unknown): boolean {
  const { type, status } = asObject(condition);
  const healthy = HEALTHY.get(type);
  return healthy !== undefined && status !== healthy;
}
