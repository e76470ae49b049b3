import type { Socket } from 'node:net';
import type { V1EndpointSlice, V1EndpointSliceList } from '@kubernetes/client-node';
import { buildConnector } from 'undici';
import { runTool } from '../../support/control-plane/clients.ts';
import { NODE_ADDRESS } from '../kubernetes/place.ts';
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

/** What is known of a request that was lost just now. */
export interface Refusal {
  readonly at: string;
  readonly localPort?: number;
  /** A pod's address if the connection led to a pod that does not listen; the node's own if it led to no pod; absent if nobody sent an RST. */
  readonly refusedBy?: string | undefined;
  /** What the kernel knows of the connection. */
  readonly tracked?: string;
  /** The rules that kube-proxy had for the service a few milliseconds later. */
  readonly rules?: readonly string[];
  readonly endpoints: readonly string[];
}

export async function tellRefusal(release: Release, error: unknown): Promise<Refusal> {
  const at = new Date().toISOString();
  const localPort = (error as { localPort?: number } | undefined)?.localPort;
  if (localPort === undefined) return { at, endpoints: await endpointsOf(release) };
  const [rules, tracked] = await Promise.all([rulesOf(release), trackedFrom(localPort)]);
  const [refusedBy, endpoints] = await Promise.all([refuserOf(localPort), endpointsOf(release)]);
  return { at, localPort, refusedBy, tracked, rules, endpoints };
}

/**
 * Whether the node itself refused the connection though kube-proxy had pods for the port, so that no pod was asked. A Service
 * without endpoints looks otherwise: there kube-proxy has no rules for it, and refuses by ICMP.
 */
export const ledToNoPod = ({ refusedBy, rules = [], endpoints }: Refusal): boolean =>
  refusedBy === NODE_ADDRESS &&
  rules.some((rule) => rule.startsWith('-A KUBE-SEP-') && rule.includes('--to-destination')) &&
  endpoints.some((line) => line.includes('"ready":true'));

/** The lines of the table nat that choose an endpoint for a node port, and say so in their comment. */
async function rulesOf({ fullname, namespace }: Release): Promise<string[]> {
  const lines = (await runTool('iptables-save', ['--table', 'nat'])).split('\n');
  const own = lines.filter((line) => line.includes(`"${namespace}/${fullname}:api`));
  const chains = new Set(own.flatMap((line) => line.match(/KUBE-(?:EXT|SVC|SEP)-\w+/g) ?? []));
  return lines.filter((line) => [...chains].some((chain) => line.startsWith(`-A ${chain} `)) || own.includes(line));
}

const trackedFrom = async (port: number): Promise<string> =>
  (await runTool('conntrack', ['--dump', '--proto', 'tcp', '--orig-port-src', String(port)])).trim();

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
