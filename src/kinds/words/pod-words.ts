import type { KubernetesObject } from '../../kubernetes/object.ts';
import { type Condition, type FilterReader, oneOf, statusFilter } from '../../resources/query/filter.ts';
import type { SortWords, ValueOrder } from '../../resources/query/list-query.ts';
import { BoundedMap } from '../../runtime/bounded-map.ts';
import { asArray, asObject } from '../../runtime/text/json-value.ts';
import { type KindWords, SORT_WORDS, type WordsContext } from './kind-words.ts';
import { equals, isSameOwnValue, textIn } from './own-value.ts';
import { POD_STATUS_WORDS, podReason, podRestarts, podStatusWord } from './pod-status.ts';

/** What the filters and the orders of pods read. */
interface PodOwn {
  readonly nodeName: string;
  readonly phase: string;
  /** What kubectl prints in its columns STATUS and RESTARTS. */
  readonly reason: string;
  readonly restarts: number;
  /** The PersistentVolumeClaims that the pod mounts. */
  readonly claims: readonly string[];
}

/** `v1.PodPhase`. */
const PHASES = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'];

/** Pods without claims whose values are equal share one: about 100 bytes a pod. */
const MOST_SHARED = 4_096;

const NO_CLAIMS: readonly string[] = Object.freeze([]);

const byOwn = (word: string, value: (own: PodOwn) => number | string): readonly [string, ValueOrder] => [
  word,
  { word, value: ({ own }) => value(own as PodOwn) },
];

const POD_SORT_WORDS: SortWords = new Map([
  ...SORT_WORDS,
  byOwn('status', ({ reason }) => reason),
  byOwn('nodeName', ({ nodeName }) => nodeName),
  byOwn('restarts', ({ restarts }) => restarts),
]);

/** Pods. The filters are those of KubeSphere 3.4; it has none of the orders. */
export function podWords({ selectorOf }: Pick<WordsContext, 'selectorOf'>): KindWords {
  const shared = new BoundedMap<PodOwn>(MOST_SHARED);
  return {
    sortWords: POD_SORT_WORDS,
    filters: new Map<string, FilterReader>([
      ['nodeName', equals<PodOwn>(({ nodeName }) => nodeName)],
      ['pvcName', (text) => (pod) => (pod.own as PodOwn).claims.includes(text)],
      ['serviceName', (text) => isBehind(text, selectorOf)],
      ['phase', oneOf(PHASES, ({ own }) => (own as PodOwn).phase)],
      ['status', statusFilter(POD_STATUS_WORDS)],
    ]),
    statusOf: podStatusWord,
    project: (pod) => projected(pod, shared),
    isSameOwn: isSameOwnValue,
  };
}

function projected(pod: KubernetesObject, shared: BoundedMap<PodOwn>): PodOwn {
  const nodeName = textIn(pod['spec'], 'nodeName') ?? '';
  const phase = textIn(pod['status'], 'phase') ?? '';
  const [reason, restarts] = [podReason(pod), podRestarts(pod)];
  const claims = claimsIn(pod['spec']);
  if (claims.length > 0) return { nodeName, phase, reason, restarts, claims };
  const key = `${restarts} ${phase} ${nodeName} ${reason}`;
  const known = shared.get(key);
  if (known) return known;
  const own = { nodeName, phase, reason, restarts, claims: NO_CLAIMS };
  shared.set(key, own);
  return own;
}

/** The PersistentVolumeClaims that a pod mounts, by what is kept of it. */
export const claimsOf = (pod: { readonly own: unknown } | undefined): readonly string[] =>
  (pod?.own as PodOwn | undefined)?.claims ?? NO_CLAIMS;

const claimsIn = (spec: unknown): readonly string[] =>
  asArray(asObject(spec)['volumes']).flatMap((volume) => {
    const claim = textIn(asObject(volume)['persistentVolumeClaim'], 'claimName');
    return claim === undefined ? [] : [claim];
  });

/**
 * Whether the Service of this name in the pod's namespace selects the pod. A Service that has no selector or is unknown selects none.
 * A watch keeps each selector as it was when it first looked at a pod of the namespace; when a selector changes, only a new watch
 * knows.
 */
function isBehind(service: string, selectorOf: WordsContext['selectorOf']): Condition {
  const selects = (namespace: string): Selects => toSelects(selectorOf(namespace, service));
  const condition: Condition = (pod) => selects(pod.namespace)(pod.labels);
  condition.asOfNow = () => {
    const known = new Map<string, Selects>();
    return ({ namespace, labels }) => {
      const found = known.get(namespace) ?? selects(namespace);
      known.set(namespace, found);
      return found(labels);
    };
  };
  return condition;
}

type Labels = Readonly<Record<string, string>> | undefined;
type Selects = (labels: Labels) => boolean;

function toSelects(selector: Labels): Selects {
  const wanted = Object.entries(selector ?? {});
  if (wanted.length === 0) return () => false;
  return (labels) => labels !== undefined && wanted.every(([key, value]) => labels[key] === value);
}
