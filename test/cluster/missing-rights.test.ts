import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePorts } from '../support/control-plane/free-ports.ts';
import { type ServerProcess, startServer } from '../support/control-plane/server-process.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { eventually } from './eventually.ts';
import { install, NAMESPACE } from './installation.ts';
import { PROGRAM } from './program.ts';

const ACCOUNT = `User "system:serviceaccount:${NAMESPACE}:gatehouse"`;
const ROLE = `${NAMESPACE}:gatehouse`;

let cluster: ControlPlane;
let folder: string;
let program: ServerProcess | undefined;
let url: string;
let log: string;
let rules: { resources: string[] }[];

beforeAll(async () => {
  cluster = await startControlPlane();
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-rights-'));
  const kubeconfig = await cluster.kubeconfigFile(await install(cluster, 'memory'));
  const installed = ['get', 'clusterrole', ROLE, '-o', 'json'];
  rules = JSON.parse(await cluster.kubectl(installed)).rules;
  const [port, metricsPort] = await freePorts(2);
  url = `http://127.0.0.1:${port}`;
  log = join(folder, 'gatehouse.log');
  const config = {
    server: { address: '127.0.0.1', port, metricsPort },
    kubernetes: { kubeconfig, namespace: NAMESPACE },
    users: { firstAdministrator: {} },
  };
  await writeFile(join(folder, 'config.yaml'), JSON.stringify(config));
});
afterAll(async () => {
  await program?.kill();
  await cluster?.stop();
  await rm(folder, { recursive: true, force: true });
});

const grant = (granted: object[]): Promise<string> =>
  cluster.kubectl(['patch', 'clusterrole', ROLE, '--type=merge', '-p', JSON.stringify({ rules: granted })]);

const without = (resource: string): object[] =>
  rules
    .map((rule) => ({ ...rule, resources: rule.resources.filter((name) => name !== resource) }))
    .filter(({ resources }) => resources.length > 0);

/** The message of each check of `/readyz` that fails, by its name. */
async function failing(): Promise<Record<string, string>> {
  const answer = await fetch(`${url}/readyz?verbose`).catch(() => undefined);
  if (!answer) return { ping: 'no answer' };
  if (answer.status === 200) return {};
  const { details } = (await answer.json()) as { details: { causes: { field: string; message: string }[] } };
  return Object.fromEntries(details.causes.map(({ field, message }) => [field, message]));
}

/** The last reason that the log has for a check that fails; lines are gathered, so one may come later than an answer. */
async function reasonOf(check: string): Promise<string> {
  const lines = (await readFile(log, 'utf8')).split('\n').filter((line) => line.includes('"a health check fails"'));
  const told = lines.map((line) => JSON.parse(line) as { check: string; reason: string });
  return told.findLast((line) => line.check === check)?.reason ?? '';
}

test.each([
  ['pods', 'pods-synced', `${ACCOUNT} cannot watch resource "pods" in API group "" at the cluster scope`],
  [
    'subjectaccessreviews',
    'access-reviews',
    `${ACCOUNT} cannot create resource "subjectaccessreviews" in API group "authorization.k8s.io" at the cluster scope`,
  ],
])(
  'without the right to %s it names the right in /readyz and in the log until it has it',
  async (resource, check, right) => {
    await grant(without(resource));
    program = startServer(process.execPath, [...PROGRAM, '--config', join(folder, 'config.yaml')], log);
    const message = `failed: ${right}`;
    expect(
      await eventually(failing, (checks) => checks[check] === message && Object.keys(checks).length === 1),
    ).toEqual({
      [check]: message,
    });
    expect(
      await eventually(
        () => reasonOf(check),
        (reason) => reason.includes(right),
      ),
    ).toContain(right);
    await grant(rules);
    expect(await eventually(failing, (checks) => Object.keys(checks).length === 0)).toEqual({});
    await program.kill();
  },
);
