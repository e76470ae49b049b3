import type { Socket } from 'node:net';
import type { V1EndpointSlice, V1EndpointSliceList } from '@kubernetes/client-node';
import { buildConnector } from 'undici';
import { runTool } from '../../support/control-plane/clients.ts';
import type { Release } from './release.ts';

/**
 * Notes the sender of each RST that answers a SYN to a node port, under the local port of the client. After conntrack (-200),
 * which knows that port, and before the sender's address becomes the node's (-100).
 */
const TABLE = `table ip refusals {
  set senders { type ipv4_addr . inet_service; size 4096; flags dynamic, timeout; timeout 1m; }
  chain note {
    type filter hook prerouting priority -150;
    meta l4proto tcp ct original proto-dst 30000-32767 tcp flags & rst == rst tcp sequence 0 update @senders { ip saddr . ct original proto-src }
  }
}
`;

/** From now on `tellRefusal` can say who refused a connection. */
export async function noteRefusals(): Promise<void> {
  await runTool('nft', ['-f', '-'], TABLE);
}

/** undici's own; that it returns its socket is not in its types. */
const connect = buildConnector({}) as unknown as (...args: Parameters<buildConnector.connector>) => Socket;

/** undici's connector; the error of a refused connection also tells the local port. */
export const connectTellingPort: buildConnector.connector = (options, callback) => {
  let localPort: number | undefined;
  const socket = connect(options, (...[error, connected]) => {
    if (error) callback(Object.assign(error, { localPort }), null);
    else callback(null, connected);
  });
  // The kernel chooses the port right after this event, and forgets it when the connection is refused.
  socket.once('connectionAttempt', () => process.nextTick(() => (localPort = socket.localPort)));
};

/**
 * For the report of a lost request. `refusedBy` is a pod's address if the connection led to a pod that does not listen, and
 * the node's own if it led to no pod. It is absent if nobody refused it, or if kube-proxy did for want of endpoints.
 */
export async function tellRefusal(release: Release, error: unknown): Promise<object> {
  const localPort = (error as { localPort?: number } | undefined)?.localPort;
  const refusedBy = localPort ? await refuserOf(localPort) : undefined;
  return { at: new Date().toISOString(), localPort, refusedBy, endpoints: await endpointsOf(release) };
}

async function refuserOf(localPort: number): Promise<string | undefined> {
  const list = JSON.parse(await runTool('nft', ['--json', 'list', 'set', 'ip', 'refusals', 'senders'])) as SetList;
  const notes = list.nftables.flatMap(({ set }) => set?.elem ?? []);
  return notes.map(({ elem }) => elem.val.concat).find(([, port]) => port === localPort)?.[0];
}

interface SetList {
  readonly nftables: readonly {
    readonly set?: {
      readonly elem?: readonly { readonly elem: { readonly val: { readonly concat: readonly [string, number] } } }[];
    };
  }[];
}

async function endpointsOf(release: Release): Promise<string[]> {
  const label = `kubernetes.io/service-name=${release.fullname}`;
  const { items } = await release.get<V1EndpointSliceList>('endpointslices', '-l', label);
  return items.flatMap(toLines);
}

const toLines = ({ endpoints }: V1EndpointSlice): string[] =>
  (endpoints ?? []).map(({ addresses, conditions }) => `${addresses.join()} ${JSON.stringify(conditions)}`);
