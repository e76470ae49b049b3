import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { V1Pod } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { eventually } from '../cluster/eventually.ts';
import type { Pair } from '../integration/service/stand.ts';
import { clusterTool } from '../support/cluster-tools.ts';
import { BUSYBOX } from './image/images.ts';
import { Caller } from './stand/caller.ts';
import { processOf } from './stand/container-process.ts';
import { Release } from './stand/release.ts';

const release = new Release('pod');
let caller: Caller;
let pair: Pair;
beforeAll(async () => {
  await release.install();
  caller = await release.caller();
  pair = await caller.signIn(await release.password());
});
afterAll(() => release.remove());

/** Evaluates JavaScript in the container, by a process with the container's environment, user and cgroup. */
const evaluate = async (script: string): Promise<unknown> => JSON.parse(await release.run(`JSON.stringify(${script})`));

describe('the container', () => {
  test('runs as a user who is not root, without capabilities, privileges to gain or forbidden system calls', async () => {
    const status = (await evaluate("require('fs').readFileSync('/proc/1/status', 'utf8')")) as string;
    const line = (name: string): string | undefined => new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(status)?.[1];
    expect([line('Uid'), line('Gid')]).toEqual(['65532\t65532\t65532\t65532', '65532\t65532\t65532\t65532']);
    expect(['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'].map(line)).toEqual(Array(5).fill('0000000000000000'));
    expect([line('NoNewPrivs'), line('Seccomp')]).toEqual(['1', '2']);
  });

  test('cannot write to its root, but to /tmp', async () => {
    const write = (path: string): Promise<unknown> =>
      evaluate(
        `(() => { try { require('fs').writeFileSync('${path}', ''); return 'written' } catch (e) { return e.code } })()`,
      );
    expect(await Promise.all(['/x', '/app/x', '/etc/gatehouse/x', '/tmp/x'].map(write))).toEqual([
      ...['EROFS', 'EROFS', 'EROFS', 'written'],
    ]);
  });

  test('takes its heap from its memory limit: 60 % of 512 Mi', async () => {
    const MIB = 2 ** 20;
    const limit = (await evaluate("require('v8').getHeapStatistics().heap_size_limit")) as number;
    // The old space is 60 % of the limit; what V8 adds for the young one is 3 semi-spaces of 8 MiB.
    expect(limit / MIB).toBeGreaterThanOrEqual(0.6 * 512 - 1);
    expect(limit / MIB).toBeLessThanOrEqual(0.6 * 512 + 3 * 8 + 1);
  });

  test('has a token of its account, for an hour and this pod only, that the kubelet renews', async () => {
    const path = '/var/run/secrets/kubernetes.io/serviceaccount/token';
    const token = (await evaluate(`require('fs').readFileSync('${path}', 'utf8')`)) as string;
    const claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString());
    const pod = await release.pod();
    expect(claims).toMatchObject({
      sub: 'system:serviceaccount:pod:gatehouse',
      'kubernetes.io': { namespace: 'pod', pod: { name: pod.metadata.name, uid: pod.metadata.uid } },
    });
    // 7 s more than asked for, which the API server gives to tokens of this age.
    expect(claims.exp - claims.iat).toBeLessThanOrEqual(3607);
    const mode = await evaluate(`require('fs').statSync('${path}').mode & 0o777`);
    expect(mode).toBe(0o640);
  });
});

describe('kubectl', () => {
  test('logs gives the lines of the program, each one JSON', async () => {
    const lines = (await release.kubectl(['logs', 'deployment/gatehouse'])).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 'error')).toEqual([]);
    expect(lines.length).toBeGreaterThan(0);
  });

  test('port-forward reaches the API', async () => {
    const args = ['--kubeconfig', inject('kubeconfig'), '-n', 'pod', 'port-forward', 'service/gatehouse', ':80'];
    const forward = spawn(await clusterTool('kubectl'), args, { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      const [line] = await once(createInterface(forward.stdout), 'line');
      const port = /127\.0\.0\.1:(\d+)/.exec(line)?.[1];
      expect(await new Caller(`http://127.0.0.1:${port}`).list(pair.access_token)).toMatchObject({ status: 200 });
    } finally {
      forward.kill();
    }
  });
});

test('another pod signs in and lists through the Service', async () => {
  const password = await release.password();
  const script = `
    url=http://$GATEHOUSE_SERVICE_HOST:$GATEHOUSE_SERVICE_PORT
    form="client_id=gatehouse&client_secret=gatehouse&grant_type=password&username=admin&password=$PASSWORD"
    token=$(wget -q -O - --post-data "$form" $url/oauth/token | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
    wget -q -O - --header "Authorization: Bearer $token" $url/kapis/resources.gatehouse.io/v1alpha3/nodes?limit=1`;
  const container = { name: 'client', image: BUSYBOX, command: ['/bin/busybox', 'sh', '-c'], args: [script] };
  const env = [{ name: 'PASSWORD', value: password }];
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'client' },
    spec: { restartPolicy: 'Never', containers: [{ ...container, env, imagePullPolicy: 'Never' }] },
  };
  await release.kubectl(['apply', '-f', '-'], JSON.stringify(pod));
  const phase = async () => (await release.get<V1Pod>('pod', 'client')).status?.phase;
  await eventually(phase, (is) => is === 'Succeeded' || is === 'Failed');
  const log = await release.kubectl(['logs', 'client']);
  expect(JSON.parse(log)).toMatchObject({ totalItems: 1 });
});

describe('the kubelet', () => {
  const restarts = async () => (await release.pod()).status?.containerStatuses?.[0]?.restartCount;
  const isReady = async () => (await release.pod()).status?.containerStatuses?.[0]?.ready;

  test('takes a pod that no longer answers out of the Service, and back when it answers, without a restart', async () => {
    const { uid } = (await release.pod()).metadata;
    const pid = await processOf(await release.pod());
    process.kill(pid, 'SIGSTOP');
    try {
      await eventually(isReady, (ready) => ready === false);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await eventually(isReady, (ready) => ready === true);
    expect([(await release.pod()).metadata.uid, await restarts()]).toEqual([uid, 0]);
    expect((await (await release.caller()).list(pair.access_token)).status).toBe(200);
  });

  test('starts a killed process again, which knows the sessions and the keys from before', async () => {
    process.kill(await processOf(await release.pod()), 'SIGKILL');
    await eventually(restarts, (count) => count === 1);
    await eventually(isReady, (ready) => ready === true);
    const state = (await release.pod()).status?.containerStatuses?.[0]?.lastState?.terminated;
    expect(state).toMatchObject({ exitCode: 137 });
    caller = await release.caller();
    expect((await caller.list(pair.access_token)).status).toBe(200);
    expect((await caller.refresh(pair.refresh_token)).status).toBe(200);
  });
});
