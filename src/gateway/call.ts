/** The part of a request's `RequestInfo` (src/http) that the gateway needs. */
export interface CallInfo {
  readonly isResource: boolean;
  readonly prefix: string;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
}

/** The kinds of call. The kind is a label of the metrics, and decides how long a call may last. */
export const CALL_KINDS = ['object', 'discovery', 'watch', 'log', 'exec', 'attach', 'portforward', 'proxy'] as const;
export type CallKind = (typeof CALL_KINDS)[number];

/** The protocol that a connection is upgraded to when the cluster agrees. */
export type UpgradeProtocol = 'websocket' | 'spdy/3.1';

/** Subresources that are streams, in any group and resource. A `log` with `follow` is silent for as long as the pod writes nothing. */
const STREAMED: ReadonlySet<string> = new Set(['log', 'exec', 'attach', 'portforward']);

/**
 * Finds long-running calls as the API server does (its `LongRunningRequestCheck`: the verbs `watch` and `proxy`, the subresources
 * `attach`, `exec`, `proxy`, `log` and `portforward`, of every group).
 */
export function kindOf({ isResource, verb, subresource }: CallInfo): CallKind {
  if (!isResource) return 'discovery';
  if (verb === 'proxy' || subresource === 'proxy') return 'proxy';
  if (verb === 'watch') return 'watch';
  return STREAMED.has(subresource) ? (subresource as CallKind) : 'object';
}

/** Whether client and server decide how long a call lasts. Such calls have no time limit; how many may be open is limited separately. */
export const isLongRunning = (kind: CallKind): boolean => kind !== 'object' && kind !== 'discovery';

/**
 * The kind of a call that asks to be upgraded to the protocol; `undefined` when such an upgrade must not reach the cluster
 * (A-14, docs/promises.md). A subresource of an aggregated group may be anything, like the console of a virtual machine: its
 * upgrade counts as `proxy`.
 */
export function upgradeKindOf(asked: CallInfo, protocol: UpgradeProtocol): CallKind | undefined {
  const kind = kindOf(asked);
  switch (kind) {
    case 'exec':
    case 'attach':
    case 'portforward':
    case 'proxy':
      return kind;
    case 'watch':
    case 'log':
      return protocol === 'websocket' || isAggregated(asked) ? kind : undefined;
    case 'object':
      return isAggregated(asked) ? 'proxy' : undefined;
    case 'discovery':
      return undefined;
    default:
      return kind satisfies never;
  }
}

/** Whether the path is a subresource of a named API group. Only the server of an aggregated group upgrades such connections. */
const isAggregated = ({ prefix, subresource, verb }: CallInfo): boolean =>
  prefix === 'apis' && subresource !== '' && verb !== 'watch';

/**
 * Whether the API server proxies the call to a kubelet, a pod or a service, or, over an upgraded connection, to the server of an
 * aggregated group.
 */
export const isProxied = (asked: CallInfo, isUpgrade: boolean): boolean =>
  kindOf(asked) === 'proxy' || (isUpgrade && isAggregated(asked));
