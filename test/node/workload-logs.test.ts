import type { V1Pod, V1PodList } from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../cluster/eventually.ts';
import { killProcess, processNamed, processOf } from './stand/container-process.ts';
import { GatewayStand } from './stand/gateway-stand.ts';
import { get, kubectl } from './stand/kubectl.ts';
import type { Running, Way } from './stand/way.ts';
import { deployment, list, shell } from './stand/workload.ts';

const LOG = '/kapis/resources.gatehouse.io/v1alpha3/namespaces/NAMESPACE/deployments/counter/log?tailLines=5000';

/**
 * Counts lines, and which start of the container this is. At SIGTERM it says how many lines there were, which a signal that comes in the
 * middle of the loop cannot make wrong, and fails.
 */
const COUNTS = `
starts=0; [ -e /tmp/starts ] && read starts </tmp/starts
starts=$((starts+1)); echo $starts >/tmp/starts
trap 'told=1' TERM; lines=0
while [ -z "$told" ]; do
  lines=$((lines+1)); echo "start $starts line $lines"; /bin/busybox sleep 0.05
done
echo "start $starts ended after line $lines"; exit 1`;

interface LogRecord {
  readonly type: string;
  readonly event?: string;
  readonly pod: string;
  readonly text: string;
}

/** All whole records that have come. */
const records = ({ said }: Running): LogRecord[] =>
  said.stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as LogRecord);

const linesOf = (stream: Running, pod: string): string[] =>
  records(stream).flatMap((record) => (record.type === 'line' && record.pod === pod ? [record.text] : []));

let stand: GatewayStand;
let way: Way;
beforeAll(async () => {
  stand = await GatewayStand.start('workload');
  way = (await stand.ways('olga')).through;
});
afterAll(() => stand?.remove());

/** What the kubelet has of the log of this pod, of the present start or the one before. */
const kubeletHas = async (pod: string, ...which: readonly string[]): Promise<string[]> =>
  (await kubectl(['-n', way.namespace, 'logs', pod, ...which])).trimEnd().split('\n');

/** Resolves when so many lines of this start of the pod's container have come in all. */
const untilLines = (stream: Running, { metadata }: V1Pod, start: number, count: number): Promise<unknown> =>
  eventually(
    async () => linesOf(stream, metadata!.name!).filter((line) => line.startsWith(`start ${start} line`)).length,
    (length) => length >= count,
  );

/** Resolves when the kubelet has this many lines of the second start of the pod's container, whether it is away meanwhile or not. */
const untilStartedAgain = ({ metadata }: V1Pod, count: number): Promise<unknown> =>
  eventually(
    () => kubeletHas(metadata!.name!).catch(() => []),
    ([first = '', ...others]) => first.startsWith('start 2') && others.length >= count,
  );

/** Stops the processes of all replicas, in the middle of whatever they do, until the returned function is called. */
async function freezeReplicas(): Promise<() => void> {
  const processes = await Promise.all((await stand.release.pods()).map(processOf));
  const signal = (name: 'SIGSTOP' | 'SIGCONT'): void => {
    for (const pid of processes) process.kill(pid, name);
  };
  signal('SIGSTOP');
  return () => signal('SIGCONT');
}

test('G-29 no line of a deployment is lost or comes twice over restarts of containers and of the kubelet', async () => {
  await way.told(['create', '-f', '-'], { input: list(deployment('counter', { command: shell(COUNTS) }, 2)) });
  await way.told(['rollout', 'status', 'deployment/counter', '--timeout=2m']);
  const { items } = await get<V1PodList>('pods', '-n', way.namespace, '-l', 'app=counter');
  const [one, other] = items as [V1Pod, V1Pod];
  const stream = await way.start('kubectl', ['get', '--raw', LOG]);
  for (const pod of items) await untilLines(stream, pod, 1, 20);

  await way.told(['exec', one.metadata!.name!, '--', ...shell('kill 1')]);
  await untilLines(stream, one, 2, 20);

  // The replicas find the connections broken when the other container is a new one already, so its last lines are those of an earlier instance.
  const kubelet = await processNamed('kubelet');
  const goOn = await freezeReplicas();
  try {
    await killProcess(kubelet);
    process.kill(await processOf(other), 'SIGTERM');
    await untilStartedAgain(other, 20);
  } finally {
    goOn();
  }
  expect(await processNamed('kubelet')).not.toBe(kubelet);
  await untilLines(stream, other, 2, 40);
  await untilLines(stream, one, 2, 60);

  const events = records(stream).filter(({ type }) => type === 'pod');
  for (const name of items.map(({ metadata }) => metadata!.name!)) {
    const earlier = await kubeletHas(name, '--previous');
    const lines = linesOf(stream, name);
    const later = await kubeletHas(name);
    expect(earlier.at(-1)).toBe(`start 1 ended after line ${earlier.length - 1}`);
    expect(later[0]).toBe('start 2 line 1');
    expect(lines).toEqual([...earlier, ...later].slice(0, lines.length));
    expect(lines.length).toBeGreaterThan(earlier.length);
    const own = events.filter((record) => record.pod === name && record.event !== 'waiting');
    expect(own.map(({ event }) => event)).toEqual(['joined', 'restarted']);
  }
  stream.child.kill();
  await stream.ended;
});
