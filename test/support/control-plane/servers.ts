import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { apiDispatcher } from './api-dispatcher.ts';
import type { Layout } from './layout.ts';
import { type ServerProcess, startServer } from './server-process.ts';

/** A cold start takes 3 to 6 s; a machine that is busy with a build needs several times that. */
const START_TIMEOUT_MS = 240_000;
const POLL_MS = 50;

/** Starts etcd. Resolves when it is ready. Its files need no fsync, because they are deleted after the test. */
export async function startEtcd(binary: string, layout: Layout): Promise<ServerProcess> {
  const client = `http://127.0.0.1:${layout.etcdPort}`;
  const peer = `http://127.0.0.1:${layout.etcdPeerPort}`;
  const args = [
    `--data-dir=${layout.etcdData}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    '--unsafe-no-fsync',
    '--log-level=warn',
  ];
  const server = startServer(binary, args, layout.etcdLog);
  await untilReady(server, layout.etcdLog, () => answers200(`${client}/health`));
  return server;
}

interface ApiServerOptions {
  /** The address on which it listens, which is also in its certificate. */
  readonly address: string;
  readonly args: readonly string[];
}

/** Starts kube-apiserver. Resolves when `/readyz` answers 200. */
export async function startApiServer(
  binary: string,
  layout: Layout,
  options: ApiServerOptions,
): Promise<ServerProcess> {
  const issuer = 'https://kubernetes.default.svc';
  const args = [
    `--etcd-servers=http://127.0.0.1:${layout.etcdPort}`,
    `--bind-address=${options.address}`,
    `--advertise-address=${options.address}`,
    `--secure-port=${layout.apiPort}`,
    `--cert-dir=${layout.certificates}`,
    `--service-account-issuer=${issuer}`,
    `--service-account-key-file=${layout.serviceAccountKey}`,
    `--service-account-signing-key-file=${layout.serviceAccountKey}`,
    `--token-auth-file=${layout.tokenFile}`,
    ...options.args,
  ];
  const server = startServer(binary, args, layout.apiServerLog);
  const url = `https://${options.address}:${layout.apiPort}/readyz`;
  await untilReady(server, layout.apiServerLog, () => answers200(url, layout.caFile));
  return server;
}

async function untilReady(server: ServerProcess, log: string, isReady: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + START_TIMEOUT_MS;
  while (!(await isReady())) {
    if (server.running && performance.now() < giveUpAt) await sleep(POLL_MS);
    else {
      await server.kill();
      throw new Error(`${log} ends with:\n${await lastLines(log)}`);
    }
  }
}

/** Whether the URL answers 200 to an anonymous request. False if the connection fails or there is no CA file yet. */
async function answers200(url: string, caFile?: string): Promise<boolean> {
  const dispatcher = await apiDispatcher(caFile).catch(() => undefined);
  if (!dispatcher) return false;
  try {
    const answer = await request(url, { dispatcher, headersTimeout: 5_000 });
    await answer.body.dump();
    return answer.statusCode === 200;
  } catch {
    return false;
  } finally {
    await dispatcher.destroy();
  }
}

const lastLines = async (file: string): Promise<string> =>
  (await readFile(file, 'utf8')).trimEnd().split('\n').slice(-40).join('\n');
