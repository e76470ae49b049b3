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

/** Subresources of pods that are streams. A `log` may follow, and then says nothing for as long as the pod does. */
const STREAMED: ReadonlySet<string> = new Set(['log', 'exec', 'attach', 'portforward']);

/** Tells calls apart as the API server does (its `LongRunningRequestCheck`). */
export function kindOf({ isResource, prefix, verb, resource, subresource }: AskedOf): CallKind {
  if (!isResource) return 'discovery';
  if (prefix === 'api' && (verb === 'proxy' || subresource === 'proxy')) return 'proxy';
  if (verb === 'watch') return 'watch';
  if (prefix === 'api' && resource === 'pods' && STREAMED.has(subresource)) return subresource as CallKind;
  return 'object';
}

/** Whether a call lasts as long as its two ends like: it has places of its own and no time limit. */
export const isLongRunning = (kind: CallKind): boolean => kind !== 'object' && kind !== 'discovery';

/** Whether the cluster may be asked to turn the connection of this call into one of that protocol. */
export function mayUpgrade(kind: CallKind, protocol: UpgradeProtocol): boolean {
  switch (kind) {
    case 'exec':
    case 'attach':
    case 'portforward':
    case 'proxy':
      return true;
    case 'watch':
      return protocol === 'websocket';
    default:
      return false;
  }
}
