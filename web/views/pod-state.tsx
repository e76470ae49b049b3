import { type KubernetesObject, ownOf } from '../api/objects.ts';
import { State, type Tone } from '../parts/state.tsx';
import { podReason, readyOf } from './pod-status.ts';

const TONES: Readonly<Record<string, Tone>> = {
  ...{ Running: 'good', Completed: 'idle', Succeeded: 'idle', Terminating: 'idle' },
  ...{ Pending: 'warn', ContainerCreating: 'warn', PodInitializing: 'warn', SchedulingGated: 'warn', NotReady: 'warn' },
};

const wordOf = (pod: KubernetesObject): string => podReason(pod) || 'Unknown';

/** How well a pod is. */
export function podTone(pod: KubernetesObject): Tone {
  const reason = wordOf(pod);
  const [ready, all] = readyOf(pod);
  const tone = ownOf(TONES, reason) ?? (/^Init:\d/.test(reason) ? 'warn' : 'bad');
  return tone === 'good' && ready < all ? 'warn' : tone;
}

/** The state of a pod as a word, with its colour and shape. */
export function PodState({ pod }: { readonly pod: KubernetesObject }) {
  return <State tone={podTone(pod)}>{wordOf(pod)}</State>;
}
