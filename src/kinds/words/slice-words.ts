import type { KubernetesObject } from '../../kubernetes/object.ts';
import { asArray, asObject } from '../../runtime/text/json-value.ts';
import { type KindWords, PLAIN_WORDS } from './kind-words.ts';
import { textIn } from './own-value.ts';

/** A part of the back ends of a Service, by the names of their pods. */
export interface SliceOwn {
  readonly service: string;
  readonly ready: readonly string[];
  readonly notReady: readonly string[];
}

const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
const SERVICE_NAME = 'kubernetes.io/service-name';
/** Makes the slices of Services that choose pods. */
const CONTROLLER = 'endpointslice-controller.k8s.io';

/** EndpointSlices. Only those of the namespaces that `isWanted` names keep their back ends. */
export const sliceWords = (isWanted: (namespace: string) => boolean): KindWords => ({
  ...PLAIN_WORDS,
  project: (slice) => (isWanted(slice.metadata.namespace ?? '') ? backEndsIn(slice) : undefined),
});

function backEndsIn({ metadata: { labels }, endpoints }: KubernetesObject): SliceOwn | undefined {
  const service = labels?.[SERVICE_NAME];
  if (service === undefined || labels?.[MANAGED_BY] !== CONTROLLER) return undefined;
  const ready: string[] = [];
  const notReady: string[] = [];
  for (const endpoint of asArray(endpoints)) {
    const { targetRef, conditions } = asObject(endpoint);
    const pod = textIn(targetRef, 'name');
    // An absent word means ready, by the words of the API (discovery.k8s.io/v1 `EndpointConditions`).
    if (pod !== undefined) (asObject(conditions)['ready'] === false ? notReady : ready).push(pod);
  }
  return { service, ready, notReady };
}
