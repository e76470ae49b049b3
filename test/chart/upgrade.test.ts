import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { V1ConfigMap, V1Deployment, V1PodDisruptionBudget } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { CHART, helm } from './helm.ts';

let cluster: ControlPlane;
beforeAll(async () => {
  cluster = await startControlPlane();
});
afterAll(() => cluster?.stop());

/** Runs `helm install` or `helm upgrade` with `values`; answers what Helm says, NOTES included. */
async function release(
  verb: 'install' | 'upgrade',
  namespace: string,
  values: object = {},
  { name = 'gatehouse', chart = CHART, flags = [] as readonly string[] } = {},
): Promise<string> {
  const create = verb === 'install' ? ['--create-namespace'] : [];
  const args = ['--kubeconfig', await cluster.kubeconfigFile(), '--namespace', namespace, '--values', '-', ...create];
  return helm([verb, name, chart, ...args, ...flags], JSON.stringify(values));
}

async function get<T>(namespace: string, kind: string, name = 'gatehouse'): Promise<T> {
  return JSON.parse(await cluster.kubectl(['-n', namespace, 'get', kind, name, '-o', 'json'])) as T;
}

const imageIn = async (namespace: string): Promise<string | undefined> =>
  (await get<V1Deployment>(namespace, 'deployment')).spec?.template.spec?.containers[0]?.image;
const configMapIn = async (namespace: string): Promise<string> =>
  (await get<V1Deployment>(namespace, 'deployment')).spec!.template.spec!.volumes!.find(
    ({ name }) => name === 'config',
  )!.configMap!.name!;
const configIn = async (namespace: string): Promise<unknown> =>
  parse((await get<V1ConfigMap>(namespace, 'configmap', await configMapIn(namespace))).data!['config.yaml']!);
const warnings = (said: string): string[] => said.split('\n').filter((line) => line.startsWith('WARNING'));

describe('two releases', () => {
  test('may have one name in two namespaces', async () => {
    await release('install', 'one');
    await release('install', 'two');
    const bindings = await cluster.kubectl([
      'get',
      'clusterrolebindings',
      '-l',
      'app.kubernetes.io/name=gatehouse',
      '-o',
      'name',
    ]);
    expect(bindings.match(/\/(one|two):gatehouse\S*/g)).toEqual([
      '/one:gatehouse',
      '/one:gatehouse:administrators',
      '/two:gatehouse',
      '/two:gatehouse:administrators',
    ]);
  });

  test('in one namespace are refused when they would share keys and administrator', async () => {
    await expect(release('install', 'one', {}, { name: 'blue' })).rejects.toThrow(
      'the release "gatehouse" of this namespace has the Secret "gatehouse-signing-keys" too (config.keys.secretName): both would share what is in it; install into a namespace of its own, set another platform, or set allow.sharedSecrets to true.',
    );
    const secretName = 'gatehouse-first-administrator';
    const config = { keys: { secretName: 'others' }, users: { firstAdministrator: { secretName } } };
    await expect(release('install', 'one', { config }, { name: 'blue' })).rejects.toThrow(
      `has the Secret "${secretName}" too (config.users.firstAdministrator.secretName)`,
    );
    const kinds = 'deployment,service,configmap,serviceaccount,role,rolebinding';
    const ofBlue = ['-l', 'app.kubernetes.io/instance=blue', '-o', 'name'];
    expect(await cluster.kubectl(['-n', 'one', 'get', kinds, ...ofBlue])).toBe('');
  });

  test('in one namespace are refused when they would share session records', async () => {
    const sessions = { store: 'kubernetes' };
    await release('install', 'records', { sessions });
    const config = { keys: { secretName: 'others' }, users: { firstAdministrator: false } };
    await expect(release('install', 'records', { sessions, config }, { name: 'blue' })).rejects.toThrow(
      'the release "gatehouse" of this namespace has the Secret "gatehouse-sessions-…" too (sessions.store)',
    );
  });

  test('in one namespace are let be when they share nothing, or when it is wanted', async () => {
    await release('install', 'one', { platform: 'kubesphere' }, { name: 'blue' });
    await release('install', 'one', { allow: { sharedSecrets: true } }, { name: 'green' });
    await release('upgrade', 'one', { platform: 'kubesphere', config: { log: { level: 'warn' } } }, { name: 'blue' });
  });
});

describe('going back from sessions in Secrets to sessions in memory', () => {
  test('is refused, unless it is wanted', async () => {
    const store = (name: string): object => ({ sessions: { store: name } });
    await release('install', 'sessions', store('kubernetes'));
    await release('upgrade', 'sessions', { ...store('kubernetes'), replicaCount: 2 });
    await expect(release('upgrade', 'sessions', store('memory'))).rejects.toThrow(
      'sessions.store is memory, but the installed release keeps its sessions in Secrets: the access tokens of ended sessions would be good again until they expire, and everybody would have to sign in again; keep sessions.store: kubernetes, or set allow.forgetEndedSessions to true.',
    );
    expect(await configIn('sessions')).toMatchObject({ sessions: { store: 'kubernetes' } });
    await release('upgrade', 'sessions', { ...store('memory'), allow: { forgetEndedSessions: true } });
    expect(await configIn('sessions')).toMatchObject({ sessions: { store: 'memory' } });
  });
});

describe('an upgrade warns', () => {
  test('when the platform changes, and not when it stays', async () => {
    await release('install', 'platform');
    expect(warnings(await release('upgrade', 'platform'))).toEqual([]);
    expect(warnings(await release('upgrade', 'platform', { platform: 'kubesphere' }))).toEqual([
      'WARNING: platform was gatehouse and is kubesphere now. Everybody has to sign in again, with new keys and a new first administrator; rights on resources.gatehouse.io and membership of gatehouse-admins no longer count; clients must call the new paths. The old Secrets stay.',
    ]);
  });

  test('when the issuer changes, of itself too, and not when it stays', async () => {
    await release('install', 'issuer');
    const issuer = 'https://a.example.com/oauth';
    const warning = (before: string, next: string) =>
      `WARNING: issuer was ${before} and is ${next} now. Every session ends: everybody has to sign in again, and API servers and applications that trust tokens have to be told the new issuer.`;
    const own = 'http://gatehouse.issuer.svc';
    expect(warnings(await release('upgrade', 'issuer', { service: { port: 8080 } }))).toEqual([
      warning(`${own}/oauth`, `${own}:8080/oauth`),
    ]);
    expect(warnings(await release('upgrade', 'issuer', { issuer }))).toEqual([warning(`${own}:8080/oauth`, issuer)]);
    expect(warnings(await release('upgrade', 'issuer', { issuer, replicaCount: 1 }))).toEqual([]);
  });

  test('when a Secret or account is named that is not there, or has not the key', async () => {
    await cluster.kubectl(['create', 'namespace', 'secrets']);
    await cluster.kubectl(['-n', 'secrets', 'create', 'secret', 'generic', 'people', '--from-literal=users=none']);
    await cluster.kubectl(['-n', 'secrets', 'create', 'secret', 'generic', 'client', '--from-literal=secret=made-up']);
    const values = {
      users: { existingSecret: 'people' },
      oauth: { client: { existingSecret: 'client' } },
      tokenReview: { existingSecret: 'caller' },
      imagePullSecrets: [{ name: 'registry' }],
      helmTest: { existingSecret: 'tester' },
      serviceAccount: { create: false, name: 'reader' },
    };
    expect(warnings(await release('install', 'secrets', values))).toEqual([
      'WARNING: users.existingSecret names the Secret people, which has no key users.yaml. The pods that use it fail.',
      'WARNING: tokenReview.existingSecret names the Secret caller, which is not in the namespace yet. The pods that use it wait for it.',
      'WARNING: imagePullSecrets names the Secret registry, which is not in the namespace yet. The pods that use it wait for it.',
      'WARNING: helmTest.existingSecret names the Secret tester, which is not in the namespace yet. The pods that use it wait for it.',
      'WARNING: serviceAccount.name is reader, which is not in the namespace yet. The pods start when it is there.',
    ]);
  });
});

/** The API server gives none of the first 86 ports of its range to who asks for any port, as the releases above do. */
const NODE_PORT = 30_081;

describe('the values of the last release', () => {
  let older: string;
  beforeAll(async () => {
    older = await olderChart();
  });
  afterAll(() => rm(older, { recursive: true, force: true }));

  test('--reset-then-reuse-values keeps them, and takes the defaults of the new chart', async () => {
    await release(
      'install',
      'reset',
      { config: { log: { level: 'debug' } }, service: { nodePort: NODE_PORT } },
      { chart: older },
    );
    await release('upgrade', 'reset', { image: { tag: '0.2.0' } }, { flags: ['--reset-then-reuse-values'] });
    expect(await configIn('reset')).toMatchObject({ log: { level: 'debug' } });
    expect(await imageIn('reset')).toBe('ghcr.io/gatehouse/gatehouse:0.2.0');
  });

  test('--reuse-values gives a value that the new chart has more its default', async () => {
    await release('install', 'reuse', {}, { chart: older });
    await expect(get<V1PodDisruptionBudget>('reuse', 'poddisruptionbudget')).rejects.toThrow('not found');
    await release('upgrade', 'reuse', { image: { tag: '0.2.0' } }, { flags: ['--reuse-values'] });
    expect(await imageIn('reuse')).toBe('ghcr.io/gatehouse/gatehouse:0.2.0');
    const budget = await get<V1PodDisruptionBudget>('reuse', 'poddisruptionbudget');
    expect(budget.spec?.maxUnavailable).toBe(1);
  });

  test('a new tag beside the digest of the last release is refused, and takes effect with the digest taken back', async () => {
    const digest = `sha256:${'a'.repeat(64)}`;
    const flags = ['--reset-then-reuse-values'];
    await release('install', 'digest', { image: { digest } });
    await expect(release('upgrade', 'digest', { image: { tag: '0.2.0' } }, { flags })).rejects.toThrow(
      'image.tag is "0.2.0", but image.digest is set too',
    );
    await release('upgrade', 'digest', { image: { tag: '0.2.0', digest: '' } }, { flags });
    expect(await imageIn('digest')).toBe('ghcr.io/gatehouse/gatehouse:0.2.0');
  });
});

/** This chart as it might have been before two of its values. */
async function olderChart(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-older-chart-'));
  await cp(CHART, folder, { recursive: true });
  await rm(join(folder, 'templates', 'poddisruptionbudget.yaml'));
  await rm(join(folder, 'values.schema.json'));
  await writeFile(join(folder, 'templates', '_preflight.tpl'), '{{- define "gatehouse.preflight" -}}{{- end -}}');
  await writeFile(
    join(folder, 'templates', '_preflight-cluster.tpl'),
    '{{- define "gatehouse.preflight.cluster" -}}{{- end -}}',
  );
  await writeFile(join(folder, 'templates', 'NOTES.txt'), '');
  const { podDisruptionBudget: _, allow: __, ...values } = parse(await readFile(join(folder, 'values.yaml'), 'utf8'));
  await writeFile(join(folder, 'values.yaml'), stringify(values));
  return folder;
}
