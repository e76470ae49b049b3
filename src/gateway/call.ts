/** What a request line asks for, as far as the gateway must know (`RequestInfo` of src/http). */
export interface AskedOf {
  readonly isResource: boolean;
  readonly prefix: string;
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
}

/** The kind of a call: a label of metrics, and what decides how long it may last. */
export const CALL_KINDS = ['object', 'discovery', 'watch', 'log', 'exec', 'attach', 'portforward', 'proxy'] as const;
export type CallKind = (typeof CALL_KINDS)[number];

/** What a connection becomes when the cluster agrees. */
export type UpgradeProtocol = 'websocket' | 'spdy/3.1';

/** Subresources that are streams, in any group and resource. A `log` may follow, and is then silent as long as the pod is. */
const STREAMED: ReadonlySet<string> = new Set(['log', 'exec', 'attach', 'portforward']);

/**
 * Tells calls apart as the API server does (its `LongRunningRequestCheck`: the verbs `watch` and `proxy`, the subresources `attach`,
 * `exec`, `proxy`, `log` and `portforward`, of every group).
 */
export function kindOf({ isResource, verb, subresource }: AskedOf): CallKind {
  if (!isResource) return 'discovery';
  if (verb === 'proxy' || subresource === 'proxy') return 'proxy';
  if (verb === 'watch') return 'watch';
  return STREAMED.has(subresource) ? (subresource as CallKind) : 'object';
}

/** Whether a call lasts as long as its two ends like: it has places of its own and no time limit. */
export const isLongRunning = (kind: CallKind): boolean => kind !== 'object' && kind !== 'discovery';

/**
 * The kind of a call that asks for that protocol; `undefined` when the cluster may not be asked to turn the connection of such
 * a call into one of it. A subresource of an aggregated group may be anything, like the console of a virtual machine:
 * when its server agrees to an upgrade, it is a proxy.
 */
export function upgradeKindOf(asked: AskedOf, protocol: UpgradeProtocol): CallKind | undefined {
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
    default:
      return undefined;
  }
}

/** A subresource of a group with a name: the API server itself has no connections below these. */
const isAggregated = ({ prefix, subresource, verb }: AskedOf): boolean =>
  prefix === 'apis' && subresource !== '' && verb !== 'watch';

/**
 * Whether a call leads through the cluster to a server that is not its own: to a kubelet, a pod or a service, or, by an
 * upgraded connection, to the server of an aggregated group.
 */
export const isProxied = (asked: AskedOf, isUpgrade: boolean): boolean =>
  kindOf(asked) === 'proxy' || (isUpgrade && isAggregated(asked));
