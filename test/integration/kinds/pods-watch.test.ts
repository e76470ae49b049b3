import { describe, expect, test } from 'vitest';
import type { SimulatedClusterOptions } from '../../../dev/cluster/cluster.ts';
import { Watcher } from '../../support/watcher.ts';
import { STRIDE_MS, startDriven, startDrivenReady } from '../service/driven.ts';
import { type Answer, NODES, pod, type Service, startCluster } from '../service/stand.ts';
import { KindsStand } from './kinds-stand.ts';

/** Often, so that the two watches of pods soon come to the same version. */
const BOOKMARKS: SimulatedClusterOptions = { bookmarkIntervalMs: 20 };
const IDLE = { config: { kinds: { idle: '30s' } } };
const CPU = 'node.gatehouse.io/cpu-requests';

async function start(options: SimulatedClusterOptions = BOOKMARKS) {
  const cluster = await startCluster(options);
  cluster.objects.create('pods', pod('one', 'node-a', '1'));
  cluster.objects.create('pods', { ...pod('done', 'node-a', '2'), status: { phase: 'Succeeded' } });
  cluster.objects.create('pods', { ...pod('waiting', '', '3'), status: { phase: 'Pending' } });
  const { service, clock } = await startDrivenReady(cluster, IDLE);
  const { access_token: ada } = await clock.during(service.signIn('ada'));
  return new PodsStand(new KindsStand({ cluster, service, clock, tokens: { ada, joe: '' } }));
}

class PodsStand {
  readonly stand: KindsStand;
  /** Each has one watch of pods when nothing is switched. */
  replicas = 1;

  constructor(stand: KindsStand) {
    this.stand = stand;
  }

  get objects() {
    return this.stand.cluster.objects;
  }

  /** The field selectors of the watches of pods that are open. An unfiltered one is `all`. */
  get watches(): string[] {
    const { evidence } = this.stand.cluster;
    const begun = evidence.requests.filter(({ verb, path }) => verb === 'watch' && path === '/api/v1/pods');
    const open = evidence.openWatches('pods');
    return open === 0 ? [] : begun.slice(-open).map(({ query }) => (query.get('fieldSelector') ? 'counted' : 'all'));
  }

  async cpu(): Promise<string[]> {
    const { body } = await this.stand.ask('nodes?sortBy=name&ascending=true');
    return body.items.map(
      ({ metadata }: { metadata: { annotations: Record<string, string> } }) => metadata.annotations[CPU],
    );
  }

  async shows(...cpu: readonly string[]): Promise<void> {
    await this.stand.clock.until(
      () => this.cpu(),
      (seen) => seen.join() === cpu.join(),
    );
  }

  /** Asks for pods, and waits until their watch is the only one. */
  async hold(): Promise<Answer> {
    const answer = await this.stand.ask('pods?sortBy=name&ascending=true');
    await this.stand.clock.until(
      () => this.stand.cluster.evidence.openWatches('pods'),
      (open) => open === this.replicas,
    );
    return answer;
  }

  /** Waits until pods are no longer held. */
  async letGo(): Promise<void> {
    const { clock, service } = this.stand;
    await clock.spend(40_000);
    await clock.until(
      () => service.metric('gatehouse_kinds_stopped_total{reason="idle"}'),
      (stopped) => stopped === 1,
      STRIDE_MS,
    );
    await clock.until(
      () => this.stand.cluster.evidence.openWatches('pods'),
      (open) => open === this.replicas,
    );
  }
}

describe('the usage of nodes while pods are listed', () => {
  test('KD-23 the list of pods and the usage share one watch; after it the field-selected watch is the only one', async () => {
    const pods = await start();
    expect(pods.watches).toEqual(['counted']);
    const { body } = await pods.hold();
    expect(body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual([
      'done',
      'one',
      'waiting',
    ]);
    expect([pods.watches, await pods.cpu()]).toEqual([['all'], ['1', '0', '0']]);
    expect(await pods.stand.service.metric('gatehouse_cache_objects{resource="pods"}')).toBe(1);
    await pods.letGo();
    expect([pods.watches, await pods.cpu()]).toEqual([['counted'], ['1', '0', '0']]);
  });

  test('KD-23 the usage is exact while pods come, are scheduled, finish and go, before, during and after', async () => {
    const pods = await start();
    const round = async (at: number): Promise<void> => {
      pods.objects.create('pods', pod(`new-${at}`, '', '500m'));
      pods.objects.patch('pods', `default/new-${at}`, { spec: { nodeName: 'node-b' } });
      await pods.shows('1', '500m', '0');
      pods.objects.create('pods', pod(`other-${at}`, 'node-c', '2'));
      pods.objects.patch('pods', `default/new-${at}`, { status: { phase: 'Succeeded' } });
      await pods.shows('1', '0', '2');
      pods.objects.remove('pods', `default/new-${at}`);
      pods.objects.remove('pods', `default/other-${at}`);
      await pods.shows('1', '0', '0');
    };
    await round(1);
    pods.objects.create('pods', pod('at-start', 'node-b', '4'));
    await pods.hold();
    await pods.shows('1', '4', '0');
    pods.objects.remove('pods', 'default/at-start');
    await round(2);
    expect(pods.watches).toEqual(['all']);
    await pods.letGo();
    pods.objects.patch('pods', 'default/one', { status: { phase: 'Failed' } });
    pods.objects.patch('pods', 'default/waiting', { spec: { nodeName: 'node-a' }, status: { phase: 'Running' } });
    await pods.shows('3', '0', '0');
    expect(pods.watches).toEqual(['counted']);
  });

  test('KD-23 the list and the usage share one watch as well when the list begins with the changes since a version', async () => {
    const pods = await start();
    const watch = await pods.stand.watch('pods?watch=true');
    await pods.stand.clock.until(
      () => watch.version,
      (version) => version !== '',
    );
    watch.close();
    await pods.letGo();
    pods.objects.create('pods', pod('two', 'node-b', '2'));
    pods.objects.remove('pods', 'default/done');
    const resumed = await pods.stand.watch(`pods?watch=true&resourceVersion=${watch.version}`);
    await pods.shows('1', '2', '0');
    await pods.stand.clock.until(
      () => pods.watches.join(),
      (watches) => watches === 'all',
    );
    pods.objects.create('pods', pod('three', 'node-c', '4'));
    await pods.shows('1', '2', '4');
    await pods.stand.clock.until(
      () =>
        resumed.story
          .filter((line) => !line.startsWith('BOOKMARK'))
          .toSorted()
          .join(),
      (story) => story === 'ADDED three,ADDED two,DELETED done',
    );
  });

  test('KD-23 a change in the moment when pods are let go is in the usage', async () => {
    const pods = await start();
    await pods.hold();
    let created = 0;
    for (let second = 0; second < 45; second++) {
      pods.objects.create('pods', pod(`late-${second}`, 'node-b', '1'));
      created++;
      await pods.stand.clock.spend(1_000);
    }
    expect(await pods.stand.service.metric('gatehouse_kinds_stopped_total{reason="idle"}')).toBe(1);
    await pods.shows('1', `${created}`, '0');
  });

  test('KD-23 the versions of nodes are those of a replica that lists no pods, and a watch resumes over each switch', async () => {
    const pods = await start();
    const { clock, cluster } = pods.stand;
    const other = (await startDriven(cluster, {}, clock)).service;
    await clock.until(
      async () => (await other.call('/readyz')).status,
      (status) => status === 200,
    );
    pods.replicas = 2;
    const { access_token: token } = await clock.during(other.signIn('ada'));
    const versionAt = async ({ gatehouse }: Service): Promise<string> => {
      const url = `${gatehouse.origin}${NODES}?watch=true`;
      const watch = await clock.during(Watcher.open(url, { authorization: `Bearer ${token}` }));
      const version = await clock.until(() => watch.version, Boolean);
      watch.close();
      return version;
    };
    const resumes = async (version: string): Promise<void> => {
      const watch = await pods.stand.watch(`nodes?watch=true&resourceVersion=${version}`);
      expect(watch.status).toBe(200);
      await clock.until(
        () => watch.story,
        (story) => story.includes('BOOKMARK'),
      );
      expect(watch.story.filter((line) => line !== 'BOOKMARK').sort()).toEqual(['MODIFIED node-b', 'MODIFIED node-c']);
      watch.close();
    };
    const change = async (cpu: string): Promise<string> => {
      pods.objects.create('pods', pod(`b-${cpu}`, 'node-b', cpu));
      pods.objects.create('pods', { ...pod(`unseen-${cpu}`, '', cpu), status: { phase: 'Pending' } });
      pods.objects.create('pods', pod(`c-${cpu}`, 'node-c', cpu));
      return cpu;
    };
    const first = await versionAt(pods.stand.service);
    await pods.hold();
    await pods.shows('1', '0', '0');
    await change('1');
    await pods.shows('1', '1', '1');
    await resumes(first);
    await clock.until(
      () => versionAt(other),
      (version) => version !== first,
    );
    const second = await versionAt(pods.stand.service);
    expect(await versionAt(other)).toBe(second);
    await change('2');
    await pods.letGo();
    await pods.shows('1', '3', '3');
    await resumes(second);
    expect(await versionAt(other)).toBe(await versionAt(pods.stand.service));
  });

  test('KD-23 Gatehouse stays ready, and the usage exact, when the cluster restarts while the watch is shared', async () => {
    const pods = await start();
    await pods.hold();
    const { clock, cluster, service } = pods.stand;
    await cluster.restart();
    pods.objects.create('pods', pod('after', 'node-c', '1'));
    await pods.shows('1', '0', '1');
    expect((await service.call('/readyz')).status).toBe(200);
    await clock.until(
      () => cluster.evidence.openWatches('pods'),
      (open) => open === 1,
    );
  });
});
