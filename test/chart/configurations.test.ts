import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  V1ConfigMap,
  V1ConfigMapList,
  V1Deployment,
  V1PodTemplateSpec,
  V1ReplicaSet,
  V1Role,
} from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { CHART, helm, NOT_PRUNED, Rendered } from './helm.ts';
import { CHART_META, umbrellaChart } from './umbrella.ts';

let cluster: ControlPlane;
beforeAll(async () => {
  cluster = await startControlPlane();
});
afterAll(() => cluster?.stop());

const level = (name: string): object => ({ config: { log: { level: name } } });
const named = ({ spec }: V1PodTemplateSpec): string =>
  spec!.volumes!.find(({ name }) => name === 'config')!.configMap!.name!;

/** A release in a namespace of its own. There are no controllers: `rollOut` is what that of Deployments does. */
class Installed {
  readonly #namespace: string;

  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  async helm(args: readonly string[], values?: object): Promise<string> {
    const to = ['--kubeconfig', await cluster.kubeconfigFile(), '--namespace', this.#namespace];
    return helm([...to, ...args], values && JSON.stringify(values));
  }

  async install(values: object = {}, chart = CHART): Promise<void> {
    await this.helm(['install', 'gatehouse', chart, '--create-namespace', '--values', '-'], values);
  }

  async upgrade(values: object = {}, chart = CHART): Promise<void> {
    await this.helm(['upgrade', 'gatehouse', chart, '--values', '-'], values);
  }

  kubectl(args: readonly string[], input?: string): Promise<string> {
    return cluster.kubectl(['-n', this.#namespace, ...args], input);
  }

  async get<T>(...args: readonly string[]): Promise<T> {
    return JSON.parse(await this.kubectl(['get', ...args, '-o', 'json'])) as T;
  }

  /** The ConfigMaps that the installed revision renders. */
  async rendered(): Promise<V1ConfigMap[]> {
    return new Rendered(await this.helm(['get', 'manifest', 'gatehouse'])).all<V1ConfigMap>('ConfigMap');
  }

  /** Makes the ReplicaSet of the Deployment as it is, under this name; answers the name of the ConfigMap of its pods. */
  async rollOut(name: string, deployment = 'gatehouse'): Promise<string> {
    const { spec } = await this.get<V1Deployment>('deployment', deployment);
    const { selector, template } = spec!;
    const replicaSet: V1ReplicaSet = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name, labels: template.metadata!.labels! },
      spec: { selector, template },
    };
    await this.kubectl(['create', '-f', '-'], JSON.stringify(replicaSet));
    return named(template);
  }

  /** The name of the ConfigMap that pods of this ReplicaSet read. */
  async namedBy(replicaSet: string): Promise<string> {
    return named((await this.get<V1ReplicaSet>('replicaset', replicaSet)).spec!.template!);
  }

  /** The configuration file that pods of this ReplicaSet read when they start, or start again. */
  async readBy(replicaSet: string): Promise<unknown> {
    const { data } = await this.get<V1ConfigMap>('configmap', await this.namedBy(replicaSet));
    return parse(data!['config.yaml']!);
  }

  async configMaps(): Promise<string[]> {
    const { items } = await this.get<V1ConfigMapList>('configmaps');
    return items.map(({ metadata }) => metadata!.name!).toSorted();
  }
}

describe('R-24 the configuration of old pods', () => {
  const release = new Installed('configurations');
  let first: string;
  beforeAll(async () => {
    await release.install(level('warn'));
    first = await release.rollOut('first');
  });

  test('R-24 stays as it was through an upgrade', async () => {
    await release.upgrade({ ...level('debug'), users: { existingSecret: 'nosuch' } });
    await release.rollOut('second');
    expect(await release.readBy('first')).toMatchObject({ log: { level: 'warn' } });
    expect(await release.readBy('first')).not.toHaveProperty('users.file');
    expect(await release.readBy('second')).toMatchObject({
      log: { level: 'debug' },
      users: { file: expect.any(String) },
    });
  });

  test('R-24 is deleted neither by Helm nor by Argo CD or Flux while a ReplicaSet names it', async () => {
    const { metadata } = await release.get<V1ConfigMap>('configmap', first);
    expect(metadata!.annotations).toMatchObject({ 'helm.sh/resource-policy': 'keep', ...NOT_PRUNED });
  });

  test('R-24 cannot be changed', async () => {
    const patch = ['patch', 'configmap', first, '--type=merge', '--patch', '{"data":{"config.yaml":"{}"}}'];
    await expect(release.kubectl(patch)).rejects.toThrow('field is immutable when `immutable` is set');
  });

  test('R-24 stays through more upgrades than ReplicaSets are kept, none of which gets ready', async () => {
    for (const name of ['trace', 'error', 'fatal', 'silent']) await release.upgrade(level(name));
    expect(await release.readBy('first')).toMatchObject({ log: { level: 'warn' } });
  });

  test('R-24 stays when its ReplicaSet is not there yet at the next upgrade: the Deployment names it', async () => {
    await release.upgrade(level('error'));
    const { spec } = await release.get<V1Deployment>('deployment', 'gatehouse');
    await release.upgrade(level('fatal'));
    expect(await release.configMaps()).toContain(named(spec!.template));
  });

  test('R-24 stays through a rollback, that of the revision that was left too', async () => {
    await release.rollOut('left');
    await release.helm(['rollback', 'gatehouse', '2']);
    expect(await release.readBy('first')).toMatchObject({ log: { level: 'warn' } });
    expect(await release.readBy('second')).toMatchObject({ log: { level: 'debug' } });
    expect(await release.readBy('left')).toMatchObject({ log: { level: 'fatal' } });
    const { spec } = await release.get<V1Deployment>('deployment', 'gatehouse');
    expect(named(spec!.template)).toBe(await release.namedBy('second'));
  });

  test('R-24 goes two upgrades after the last ReplicaSet that names it', async () => {
    await release.kubectl(['delete', 'replicaset', 'second', 'left']);
    await release.upgrade(level('info'));
    const last = await release.rollOut('last');
    await release.upgrade(level('info'));
    await release.upgrade(level('info'));
    expect(await release.configMaps()).toEqual([first, last].toSorted());
  });

  test('is what an uninstall leaves, until it is deleted by its labels', async () => {
    await release.helm(['uninstall', 'gatehouse']);
    expect(await release.configMaps()).toHaveLength(2);
    const labels = 'app.kubernetes.io/instance=gatehouse,app.kubernetes.io/component=configuration';
    await release.kubectl(['delete', 'configmap', '-l', labels]);
    expect(await release.configMaps()).toEqual([]);
  });

  test('that an uninstall left is taken over by an install of the release', async () => {
    const again = new Installed('again');
    await again.install();
    const before = await again.configMaps();
    await again.helm(['uninstall', 'gatehouse']);
    await again.install();
    expect(await again.configMaps()).toEqual(before);
  });
});

describe('a chart whose ConfigMap has one name', () => {
  const release = new Installed('older');
  let older: string;
  beforeAll(async () => {
    older = await chartWithOneName();
    await release.install(level('warn'), older);
    await release.rollOut('first');
  });
  afterAll(() => rm(older, { recursive: true, force: true }));

  test('R-24 can be upgraded: its pods keep theirs', async () => {
    await release.upgrade(level('debug'));
    expect(await release.readBy('first')).toMatchObject({ log: { level: 'warn' } });
  });

  test('can be rolled back to', async () => {
    await release.helm(['rollback', 'gatehouse', '1']);
    expect(await release.readBy('first')).toMatchObject({ log: { level: 'warn' } });
  });
});

describe('in one release with other charts', () => {
  const release = new Installed('umbrella');
  const values = (name: string): object => ({ [BLUE]: level(name), [GREEN]: level(name), app: { text: name } });
  const old: string[] = [];
  let umbrella: string;
  beforeAll(async () => {
    umbrella = await chartOfCharts();
    await release.install(values('warn'), umbrella);
    for (const alias of [BLUE, GREEN]) old.push(await release.rollOut(`first-${alias}`, `gatehouse-${alias}`));
    await release.upgrade(values('debug'), umbrella);
  });
  afterAll(() => rm(umbrella, { recursive: true, force: true }));

  test.each([BLUE, GREEN])('R-24 the configuration of old pods of %s stays as it was', async (alias) => {
    expect(await release.readBy(`first-${alias}`)).toMatchObject({ log: { level: 'warn' } });
  });

  test('R-24 each ConfigMap is rendered by its own chart alone', async () => {
    const names = (await release.rendered()).map(({ metadata }) => metadata!.name!);
    expect(names).toEqual([...new Set(names)]);
    expect(names).toEqual(expect.arrayContaining([...old, 'app', 'app-kept']));
    expect(names).toHaveLength(2 + 2 + 2);
  });

  test('R-24 a ConfigMap of another chart has what that chart renders', async () => {
    const { data } = await release.get<V1ConfigMap>('configmap', 'app');
    expect(data).toEqual({ 'config.yaml': 'debug' });
    const { metadata } = await release.get<V1ConfigMap>('configmap', 'app-kept');
    expect(metadata!.annotations).toHaveProperty(['helm.sh/resource-policy'], 'keep');
  });
});

test('R-24 the Secrets of old pods can be read by them when the upgrade names others', async () => {
  const release = new Installed('rights');
  // With sessions in Secrets the Role names none: it is for every Secret of the namespace.
  const sessions = { store: 'memory' };
  await release.install({ sessions });
  await release.rollOut('first');
  const names = async (): Promise<unknown> =>
    (await release.get<V1Role>('role', 'gatehouse')).rules!.flatMap(({ resourceNames }) => resourceNames ?? []);
  const before = await names();
  await release.upgrade({ sessions, config: { keys: { secretName: 'others' } } });
  expect(before).toEqual(['gatehouse-signing-keys', 'gatehouse-first-administrator']);
  expect(await names()).toEqual(['others', 'gatehouse-first-administrator', 'gatehouse-signing-keys']);
});

const BLUE = 'blue';
/** The names of its ConfigMaps begin as those of blue do. */
const GREEN = 'blue-config-green';

/** A chart with this one twice, and with one that is applied before and has the same names for volume and file. */
async function chartOfCharts(): Promise<string> {
  const folder = await umbrellaChart([BLUE, GREEN]);
  const app = join(folder, 'charts', 'app');
  await mkdir(join(app, 'templates'), { recursive: true });
  await writeFile(join(app, 'Chart.yaml'), JSON.stringify({ ...CHART_META, name: 'app' }));
  await writeFile(join(app, 'templates', 'all.yaml'), APP);
  return folder;
}

const APP = `
apiVersion: v1
kind: ConfigMap
metadata: {name: app}
data: {config.yaml: {{ .Values.text }}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: app-kept, annotations: {helm.sh/resource-policy: keep}}
data: {config.yaml: {{ .Values.text }}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: app, labels: {app.kubernetes.io/instance: gatehouse}}
spec:
  selector: {matchLabels: {app: app}}
  template:
    metadata: {labels: {app: app}}
    spec:
      containers: [{name: app, image: app}]
      volumes: [{name: config, configMap: {name: app}}]
`;

/** This chart as it was before: one ConfigMap, which each upgrade changes. */
async function chartWithOneName(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-older-chart-'));
  await cp(CHART, folder, { recursive: true });
  const change = async (name: string, ...changes: readonly (readonly [string | RegExp, string])[]): Promise<void> => {
    const file = join(folder, 'templates', name);
    const text = await readFile(file, 'utf8');
    const changed = changes.reduce((is, [from, to]) => is.replace(from, to), text);
    expect(changed).not.toBe(text);
    await writeFile(file, changed);
  };
  await change(
    'configmap.yaml',
    ['immutable: true\n', ''],
    ['{{- include "gatehouse.keptAnnotations" . | nindent 4 }}', 'a: b'],
    [/\{\{- range[\s\S]*$/, ''],
  );
  await change('_configurations.tpl', [/-config-\{\{ include .* \}\}/, '']);
  return folder;
}
