import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { V1ConfigMap, V1ConfigMapList } from '@kubernetes/client-node';
import { inject } from 'vitest';
import { parse } from 'yaml';
import { freePorts } from '../support/control-plane/free-ports.ts';
import { startServer } from '../support/control-plane/server-process.ts';
import type { ControlPlane } from '../support/control-plane.ts';
import { CHART, helm, NAMESPACE } from './helm.ts';

/** The program as the chart installs it, outside a pod: its configuration file, its account, its rights. */
export interface InstalledProgram {
  readonly url: string;
  readonly metricsUrl: string;
  log(): Promise<string>;
  stop(): Promise<void>;
}

/** Installs the chart, and runs the program that it configures. */
export async function startInstalledProgram(cluster: ControlPlane, usersFile: string): Promise<InstalledProgram> {
  await installChart(cluster);
  return startConfiguredProgram(cluster, usersFile);
}

export async function installChart(
  cluster: ControlPlane,
  values: object = {},
  verb: 'install' | 'upgrade' = 'install',
): Promise<void> {
  const create = verb === 'install' ? ['--create-namespace'] : [];
  const install = [verb, 'gatehouse', CHART, '--namespace', NAMESPACE, ...create, '--values', '-'];
  await helm(['--kubeconfig', await cluster.kubeconfigFile(), ...install], JSON.stringify(values));
}

/**
 * Runs the program with the newest ConfigMap's file. Other than in a pod are the ports, the cluster's address and how the account's
 * token arrives; `usersFile` stands for the mounted Secret.
 */
export async function startConfiguredProgram(cluster: ControlPlane, usersFile?: string): Promise<InstalledProgram> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-installed-'));
  const paths = { users: join(folder, 'users.yaml'), config: join(folder, 'config.yaml'), log: join(folder, 'log') };
  const [port, metricsPort] = (await freePorts(2)) as [number, number];
  if (usersFile !== undefined) await writeFile(paths.users, usersFile);
  const config = await installedConfig(cluster);
  const token = await cluster.serviceAccountToken(NAMESPACE, 'gatehouse');
  const here = {
    ...config,
    server: { ...config.server, address: '127.0.0.1', port, metricsPort, shutdownDelay: '0s' },
    kubernetes: { kubeconfig: await cluster.kubeconfigFile(token), namespace: NAMESPACE },
    users: { ...config.users, ...(usersFile !== undefined && { file: paths.users }) },
  };
  await writeFile(paths.config, JSON.stringify(here));
  const program = startServer(process.execPath, [...inject('program'), '--config', paths.config], paths.log);
  const url = `http://127.0.0.1:${port}`;
  const log = (): Promise<string> => readFile(paths.log, 'utf8');
  const stop = async (): Promise<void> => {
    await program.kill();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await untilReady(url, () => program.running);
  } catch (cause) {
    const text = await log();
    await stop();
    throw new Error(`the program did not become ready:\n${text}`, { cause });
  }
  return { url, metricsUrl: `http://127.0.0.1:${metricsPort}/metrics`, log, stop };
}

async function installedConfig(cluster: ControlPlane): Promise<Record<'server' | 'users', object>> {
  const labels = 'app.kubernetes.io/component=configuration';
  const text = await cluster.kubectl(['-n', NAMESPACE, 'get', 'configmap', '-l', labels, '-o', 'json']);
  const { items } = JSON.parse(text) as V1ConfigMapList;
  const newest = items.reduce((a, b) => (createdAt(b) > createdAt(a) ? b : a));
  return parse(newest.data!['config.yaml']!);
}

const createdAt = ({ metadata }: V1ConfigMap): string => String(metadata!.creationTimestamp);

const POLL_MS = 50;
const ATTEMPTS = 2_400;

async function untilReady(url: string, running: () => boolean): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS && running(); attempt++) {
    const answer = await fetch(`${url}/readyz`).catch(() => undefined);
    await answer?.text();
    if (answer?.status === 200) return;
    await sleep(POLL_MS);
  }
  throw new Error(running() ? 'it was still starting after 2 minutes' : 'it ended');
}
