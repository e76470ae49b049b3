import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../cluster/eventually.ts';
import { NODE_NAME } from './kubernetes/place.ts';
import { COMMANDS, HELM_COMMANDS } from './stand/commands.ts';
import { byBothWays, GatewayStand, type Ways } from './stand/gateway-stand.ts';
import { writeSmallChart } from './stand/small-chart.ts';
import type { Outcome, Way } from './stand/way.ts';
import { BENCH, configMap, list, pod, shell } from './stand/workload.ts';

let stand: GatewayStand;
let olga: Ways;
beforeAll(async () => {
  stand = await GatewayStand.start('gateway');
  olga = await stand.ways('olga');
  await writeSmallChart(stand.path('small'));
});
afterAll(() => stand?.remove());

describe('G-08 through Gatehouse the same is said as at the API server itself, by', () => {
  test.each(COMMANDS.map((command) => [command.args.join(' ').slice(0, 90), command] as const))(
    'kubectl %s',
    async (_, { args, says = /^$/, code = 0, ...options }) => {
      const { straight, through } = await byBothWays(olga, (way) => way.kubectl(args, options));
      expect(through).toEqual(straight);
      expect(straight.code, straight.stderr).toBe(code);
      expect(straight.stdout + straight.stderr).toMatch(says);
    },
  );

  test('kubectl cordon, drain and uncordon', async () => {
    const drain = ['drain', NODE_NAME, '--pod-selector=app=drained', '--force', '--delete-emptydir-data'];
    const outcomes: Outcome[][] = [];
    // One after the other: there is but one node.
    for (const way of [olga.straight, olga.through]) {
      await way.told(['create', '-f', '-'], { input: list(pod('drained', { command: shell('sleep 3600') })) });
      await way.untilReady('drained');
      const said: Outcome[] = [];
      for (const args of [['cordon', NODE_NAME], drain, ['uncordon', NODE_NAME]]) said.push(await way.kubectl(args));
      outcomes.push(said.map((outcome) => way.comparable(outcome)));
    }
    const [straight, through] = outcomes;
    expect(through).toEqual(straight);
    expect(straight?.map(({ code, stdout }) => [code, stdout])).toEqual([
      [0, 'node/node-a cordoned\n'],
      [0, expect.stringContaining('pod/drained evicted\n')],
      [0, 'node/node-a uncordoned\n'],
    ]);
  });

  test.each(HELM_COMMANDS)('helm %s', async (line, says) => {
    const args = line.replace('CHART', stand.path('small')).split(' ');
    const { straight, through } = await byBothWays(olga, (way) => way.helm(args));
    expect(through).toEqual(straight);
    expect(straight.code, straight.stderr).toBe(0);
    expect(straight.stdout).toMatch(says);
  });
});

describe('what differs', () => {
  test('the cluster is told the session beside name and groups', async () => {
    const carol = await stand.ways('carol');
    const whoami = async (way: Way) =>
      JSON.parse(await way.told(['auth', 'whoami', '--output=json'])).status.userInfo as object;
    const straight = await whoami(carol.straight);
    expect(straight).toMatchObject({ username: 'carol', groups: ['developers', 'system:authenticated'] });
    const extra = { 'gatehouse.io/session': [expect.stringMatching(/./)] };
    expect(await whoami(carol.through)).toEqual({ ...straight, extra });
  });

  test('A-30 nobody acts as somebody else: kubectl --as is refused, and says why', async () => {
    const outcome = await olga.through.kubectl(['get', '--raw', '/api/v1/namespaces', '--as=gustav']);
    expect(outcome).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'Error from server (Forbidden): Impersonate headers are not accepted here: calls are made as the user who signed in (gateway.impersonation)\n',
    });
  });

  test('/version is the cluster’s, with Gatehouse’s release beside it', async () => {
    const versionOf = async (way: Way) => JSON.parse(await way.told(['get', '--raw', '/version']));
    const { straight, through } = olga;
    const [cluster, seen] = [await versionOf(straight), await versionOf(through)];
    expect(seen).toEqual({ ...cluster, gatehouse: expect.stringMatching(/^v\d/) });
    expect(await through.told(['version'])).toBe(await straight.told(['version']));
  });

  test('A-27 the proxy subresource of a node is refused', async () => {
    const outcome = await olga.through.kubectl(['get', '--raw', `/api/v1/nodes/${NODE_NAME}/proxy/healthz`]);
    expect(outcome).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'Error from server (Forbidden): connections through the cluster to nodes, pods, services and aggregated servers are not served here (gateway.allowProxySubresources)\n',
    });
  });

  test('G-16 who is not named to the chart gets 403, in words that name no account', async () => {
    const { access_token: token } = await stand.signIn('stranger');
    const { code, stderr } = await (await stand.wayThrough('stranger', token)).kubectl([
      'get',
      '--raw',
      '/api/v1/pods',
    ]);
    expect([code, stderr]).toEqual([
      1,
      'Error from server (Forbidden): the user "stranger" may not call the cluster through this server: this server is not set up for it; ask its operator (gateway.users, gateway.accounts)\n',
    ]);
  });
});

describe('G-05 the cluster’s own RBAC', () => {
  test('lets a member of a group in where that group has a role', async () => {
    const carol = await stand.ways('carol');
    const { straight, through } = await byBothWays(carol, (way) =>
      way.kubectl(['apply', '-f', '-'], { input: list(BENCH) }),
    );
    expect(through).toEqual(straight);
    expect(through).toEqual({ code: 0, stdout: 'pod/bench created\n', stderr: '' });
    expect(await carol.through.told(['auth', 'can-i', 'delete', 'pods'])).toBe('yes\n');
    await olga.through.untilReady('bench');
    await olga.straight.untilReady('bench');
  });

  const REFUSED: readonly (readonly [person: 'carol' | 'gustav' | 'vera', args: string, words: RegExp])[] = [
    ['carol', 'get pods --namespace=default', /"carol" cannot list resource "pods" .* in the namespace "default"/],
    ['carol', 'get nodes', /"carol" cannot list resource "nodes" .* at the cluster scope/],
    ['carol', 'delete namespace NAMESPACE', /"carol" cannot delete resource "namespaces"/],
    ['gustav', 'get pods', /"gustav" cannot list resource "pods"/],
    ['gustav', 'create configmap a', /"gustav" cannot create resource "configmaps"/],
    ['gustav', 'logs bench', /"gustav" cannot get resource "pods"/],
    ['vera', 'exec bench -- /bin/busybox true', /"vera" cannot \w+ resource "pods\/exec"/],
    ['vera', 'port-forward pod/bench :8080', /"vera" cannot \w+ resource "pods\/portforward"/],
  ];

  test.each(REFUSED)('refuses %s, by name, to %s', async (person, args, words) => {
    const ways = await stand.ways(person);
    const { straight, through } = await byBothWays(ways, (way) => way.kubectl(args.split(' ')));
    expect(through).toEqual(straight);
    expect([straight.code, straight.stderr]).toEqual([1, expect.stringMatching(words)]);
    expect(straight.stderr).toMatch(/Forbidden|forbidden/);
  });
});

describe('R-07 a rollout of Gatehouse itself', () => {
  test('is begun and followed through Gatehouse, while kubectl wait goes on and kubectl get --watch ends well', async () => {
    const { through } = olga;
    const settings = (data: object) => through.told(['apply', '-f', '-'], { input: list(configMap(data)) });
    await settings({ step: '0' });
    const watch = await through.start('kubectl', [
      'get',
      'configmap',
      'settings',
      '--watch',
      '--output=jsonpath={.data.step} ',
    ]);
    // From then on it is told of each change.
    await eventually(
      async () => watch.said.stdout,
      (text) => text === '0 ',
    );
    const wait = await through.start('kubectl', [
      'wait',
      'configmap/settings',
      '--for=jsonpath={.data.step}=2',
      '--timeout=5m',
    ]);
    const deployment = ['deployment/gatehouse', `--namespace=${stand.release.namespace}`];
    const before = await stand.release.pods();
    await through.told(['rollout', 'restart', ...deployment]);
    await settings({ step: '1' });
    expect(await through.told(['rollout', 'status', ...deployment])).toContain('successfully rolled out');
    const gone = before.map(({ metadata }) => `pod/${metadata!.name}`);
    await through.told(['wait', '--for=delete', ...gone, '--timeout=2m', `--namespace=${stand.release.namespace}`]);
    await settings({ step: '2' });
    expect(await wait.ended).toEqual({ code: 0, stdout: 'configmap/settings condition met\n', stderr: '' });
    // It knows no second watch. Of the API server, too, a watch lasts an hour at most.
    expect(await watch.ended).toEqual({ code: 0, stdout: '0 1 ', stderr: '' });
  });
});
