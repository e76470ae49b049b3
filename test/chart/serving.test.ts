import type { V1Secret } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hashPassword } from '../../src/users/password-hash.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { operationsText } from '../support/operations-pages.ts';
import { NAMESPACE, notes } from './helm.ts';
import { type InstalledProgram, startInstalledProgram } from './installed-program.ts';

const NODES = '/kapis/resources.gatehouse.io/v1alpha3/nodes';
const node = (name: string): string => JSON.stringify({ apiVersion: 'v1', kind: 'Node', metadata: { name } });

/** Metrics of what this program is not told to do; tests of each hold that they exist there. */
const ELSEWHERE = [
  'gatehouse_service_account_keys', // where service accounts are let in
  'gatehouse_session_record_lag_seconds', // where sessions are kept in Secrets
  // Where users are objects.
  ...['gatehouse_users_refused', 'gatehouse_user_emails_shared', 'gatehouse_user_objects_faulty'],
  ...['gatehouse_login_records_total', 'gatehouse_platform_role_conflicts'],
  // Where the cluster's own paths are served.
  ...['gatehouse_gateway_refusals_total', 'gatehouse_gateway_upstream_duration_seconds'],
  ...['gatehouse_gateway_requests_in_flight', 'gatehouse_gateway_requests_waiting'],
  // Where the gateway follows the accounts.
  ...['gatehouse_gateway_accounts', 'gatehouse_gateway_accounts_faults'],
  // Where there is a Prometheus.
  'gatehouse_prometheus_request_duration_seconds',
  // Where there is a log store.
  ...['gatehouse_log_queries_total', 'gatehouse_log_queries_in_flight', 'gatehouse_log_exports_cut_total'],
  'gatehouse_log_store_request_duration_seconds',
];

let cluster: ControlPlane;
let program: InstalledProgram;

beforeAll(async () => {
  cluster = await startControlPlane();
  await cluster.kubectl(['create', '-f', '-'], node('node-a'));
  const joe = { name: 'joe', passwordHash: await hashPassword('a password of joe', 10) };
  program = await startInstalledProgram(cluster, JSON.stringify({ users: [joe] }));
});
afterAll(async () => {
  await program?.stop();
  await cluster?.stop();
});

/** As NOTES.txt says to read it. */
async function firstPassword(): Promise<string> {
  const args = ['-n', NAMESPACE, 'get', 'secret', 'gatehouse-first-administrator', '-o', 'json'];
  const { data } = JSON.parse(await cluster.kubectl(args)) as V1Secret;
  return Buffer.from(data?.['password'] ?? '', 'base64').toString();
}

/** The names of the Secrets, without Helm's own records of its releases. */
async function opaqueSecrets(): Promise<string[]> {
  const only = ['-o', 'name', '--field-selector=type=Opaque'];
  const names = await cluster.kubectl(['-n', NAMESPACE, 'get', 'secrets', ...only]);
  return names.split('\n').filter(Boolean);
}

async function signIn(username: string, password: string): Promise<string> {
  const answer = await fetch(`${program.url}/oauth/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from('gatehouse:gatehouse').toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'password', username, password }),
  });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { access_token: string }).access_token;
}

const listNodes = (token: string): Promise<Response> =>
  fetch(program.url + NODES, { headers: { authorization: `Bearer ${token}` } });

describe('the program with what the chart installs', () => {
  test('signs the first administrator in with the password from the Secret and lists the nodes', async () => {
    const answer = await listNodes(await signIn('admin', await firstPassword()));
    expect(answer.status).toBe(200);
    const { items } = (await answer.json()) as { items: { metadata: { name: string } }[] };
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['node-a']);
  });

  test('refuses a user whom nothing was granted', async () => {
    const answer = await listNodes(await signIn('joe', 'a password of joe'));
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ reason: 'Forbidden', message: expect.stringContaining('User "joe"') });
  });

  test('names the issuer that the chart wrote', async () => {
    const answer = await fetch(`${program.url}/oauth/.well-known/openid-configuration`);
    expect(await answer.json()).toMatchObject({ issuer: 'http://gatehouse.gatehouse-system.svc/oauth' });
  });

  test('makes exactly the two Secrets that its rights name', async () => {
    // Recent questions are written up to 20 s after a caller came.
    const lasting = (await opaqueSecrets()).filter((name) => name !== 'secret/gatehouse-recent-questions');
    expect(lasting).toEqual(['secret/gatehouse-first-administrator', 'secret/gatehouse-signing-keys']);
  });

  test('is refused nothing that it asks the cluster for', async () => {
    const text = await (await fetch(program.metricsUrl)).text();
    const refused = text
      .split('\n')
      .filter((line) => /^gatehouse_cluster_requests_total{.*code="403".*} [^0]/.test(line));
    expect(text).toContain('gatehouse_cluster_requests_total{');
    expect(refused).toEqual([]);
  });

  describe('docs/operations', () => {
    const page = operationsText();

    test('names metrics that there are', async () => {
      const text = await (await fetch(program.metricsUrl)).text();
      const there = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
      for (const name of ELSEWHERE) there.add(name);
      const named = new Set(page.match(/\bgatehouse_[a-z_]+/g)?.map((name) => name.replace(/_(?:bucket|count)$/, '')));
      expect([...named].filter((name) => !there.has(name))).toEqual([]);
      expect(named.size).toBeGreaterThan(10);
    });

    test('says of every check what to do', async () => {
      const checks = ['livez', 'readyz'].map(async (path) => (await fetch(`${program.url}/${path}?verbose`)).text());
      const names = [...(await Promise.all(checks)).join('').matchAll(/^\[\+\](\S+) ok$/gm)].map(([, name]) => name);
      const rows = page.split('\n').filter((line) => line.startsWith('| `'));
      expect(names.filter((name) => !rows.some((row) => row.includes(`\`${name}\``)))).toEqual([]);
      expect(names).toContain('reflectors');
    });
  });

  test('writes the first password into no log line', async () => {
    expect(await program.log()).not.toContain(await firstPassword());
  });

  test('makes nothing that the command of NOTES.txt does not delete', async () => {
    await program.stop();
    const command =
      (await notes({}))
        .find((line) => line.includes(' delete secret '))
        ?.trim()
        .split(' ') ?? [];
    expect(command[0]).toBe('kubectl');
    await cluster.kubectl(command.slice(1));
    expect(await opaqueSecrets()).toEqual([]);
  });
});
