import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { CHART, helm } from './helm.ts';
import { umbrellaChart } from './umbrella.ts';

const BLUE = 'blue';
/** Its name begins as that of blue does. */
const GREEN = 'blue-green';

let cluster: ControlPlane;
let umbrella: string;
beforeAll(async () => {
  umbrella = await umbrellaChart([BLUE, GREEN]);
  cluster = await startControlPlane();
});
afterAll(async () => {
  await cluster?.stop();
  await rm(umbrella, { recursive: true, force: true });
});

/** `helm upgrade --install` of a release into a namespace. */
async function upgrade(
  namespace: string,
  values: object,
  { name = 'first', chart = CHART, flags = [] as readonly string[] } = {},
): Promise<string> {
  const to = ['--kubeconfig', await cluster.kubeconfigFile(), '--namespace', namespace, '--create-namespace'];
  return helm(['upgrade', '--install', name, chart, ...to, '--values', '-', ...flags], JSON.stringify(values));
}

const store = (name: 'kubernetes' | 'memory'): object => ({ sessions: { store: name } });
const FORGOTTEN = 'sessions.store is memory, but the installed release keeps its sessions in Secrets';
const SHARED = 'the release "first" of this namespace has the Secret "gatehouse-signing-keys" too';

describe('a release whose objects have other names', () => {
  test.each([
    ['nameOverride', { nameOverride: 'other' }],
    ['fullnameOverride', { fullnameOverride: 'other' }],
    ['both', { nameOverride: 'other', fullnameOverride: 'another' }],
  ])('is known by what it has installed: %s', async (title, names) => {
    const namespace = `named-${title.toLowerCase()}`;
    await upgrade(namespace, { ...store('kubernetes'), ...names });
    await expect(upgrade(namespace, { ...store('memory'), ...names })).rejects.toThrow(FORGOTTEN);
    await expect(upgrade(namespace, {}, { name: 'second' })).rejects.toThrow(SHARED);
  });

  test('is known when the upgrade gives them further names', async () => {
    await upgrade('renamed', { ...store('kubernetes'), nameOverride: 'other', fullnameOverride: 'other' });
    const renamed = { ...store('memory'), nameOverride: 'another', fullnameOverride: 'another' };
    await expect(upgrade('renamed', renamed)).rejects.toThrow(FORGOTTEN);
  });
});

describe('a release that has the chart under other names', () => {
  const values = (blue: object, green: object): object => ({
    [BLUE]: blue,
    [GREEN]: { platform: 'kubesphere', ...green },
  });

  test('is known by what each of them has installed', async () => {
    const installed = values(store('kubernetes'), store('memory'));
    await upgrade('aliases', installed, { chart: umbrella });
    await upgrade('aliases', installed, { chart: umbrella });
    const forgetting = upgrade('aliases', values(store('memory'), store('memory')), { chart: umbrella });
    await expect(forgetting).rejects.toThrow(FORGOTTEN);
  });

  test('is warned of what changes under each of its names', async () => {
    await upgrade('warned', values({}, { accounts: { enabled: true } }), { chart: umbrella });
    const said = await upgrade('warned', values({ issuer: 'https://a.example.com/oauth' }, { platform: 'other' }), {
      chart: umbrella,
    });
    expect(said.match(/^WARNING: (issuer|platform|accounts.enabled) was \S+/gm)).toBeNull(); // Helm shows no notes of a dependency
    const shown = await upgrade('warned', values({}, {}), { chart: umbrella, flags: ['--render-subchart-notes'] });
    expect(shown).toContain('WARNING: issuer was https://a.example.com/oauth and is http://');
    expect(shown).toContain('WARNING: platform was other and is kubesphere now.');
  });

  test('is known to other releases, and knows them', async () => {
    await upgrade('shared', values({}, {}), { chart: umbrella });
    await expect(upgrade('shared', {}, { name: 'second' })).rejects.toThrow(SHARED);
    await upgrade('plain', {});
    const second = upgrade('plain', values({}, {}), { name: 'second', chart: umbrella });
    await expect(second).rejects.toThrow(SHARED);
  });

  test('is not known by a Deployment of another chart that has such a file', async () => {
    await cluster.kubectl(['create', 'namespace', 'others']);
    const made = ['-n', 'others', 'apply', '-f', '-'];
    await cluster.kubectl(made, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [OTHERS_FILE, OTHERS] }));
    await upgrade('others', {});
  });
});

const OTHERS_FILE = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'app' },
  data: { 'config.yaml': 'keys: {secretName: gatehouse-signing-keys}' },
};
const OTHERS = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'app', labels: { 'app.kubernetes.io/instance': 'app', 'helm.sh/chart': 'gatehouse-1.0.0' } },
  spec: {
    selector: { matchLabels: { app: 'app' } },
    template: {
      metadata: { labels: { app: 'app' } },
      spec: {
        containers: [{ name: 'app', image: 'app', args: ['--config', '/etc/app/config.yaml'] }],
        volumes: [{ name: 'config', configMap: { name: 'app' } }],
      },
    },
  },
};
