import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LogDocument } from '../../dev/log-store/stored-record.ts';
import { clusterTool } from '../support/cluster-tools.ts';
import { freePorts } from '../support/control-plane/free-ports.ts';
import { startServer } from '../support/control-plane/server-process.ts';

/** Loki in a process of its own. */
export interface RealLoki {
  readonly url: string;
  /** Adds lines, so that questions find them. */
  load(lines: readonly LokiLine[]): Promise<void>;
  stop(): Promise<void>;
}

/** It takes 10 to 15 s. */
const LONGEST_START_MS = 120_000;
const LOADED_AT_ONCE = 2_000;

/** Starts an empty Loki, which is built first when it is missing: that takes ten minutes, 1.5 GB on disk and 2.4 GB of memory. */
export async function startLoki(): Promise<RealLoki> {
  const program = await clusterTool('loki');
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-loki-'));
  const [http, grpc] = await freePorts(2);
  const configuration = join(folder, 'loki.yaml');
  const text = readFileSync(join(import.meta.dirname, 'loki.yaml'), 'utf8')
    .replaceAll('FOLDER', folder)
    .replace('HTTP_PORT', `${http}`)
    .replace('GRPC_PORT', `${grpc}`);
  writeFileSync(configuration, text);
  const log = join(folder, 'log');
  const server = startServer(program, [`-config.file=${configuration}`], log);
  const stop = async (): Promise<void> => {
    await server.terminate();
    rmSync(folder, { recursive: true, force: true });
  };
  const url = `http://127.0.0.1:${http}`;
  const began = performance.now();
  while (!(await isReady(url))) {
    if (!server.running || performance.now() - began > LONGEST_START_MS) {
      await server.kill();
      throw new Error(`Loki does not start: ${readFileSync(log, 'utf8').slice(-4_000)}`);
    }
    await sleep(100);
  }
  return { url, load: (lines) => load(url, lines), stop };
}

const isReady = async (url: string): Promise<boolean> =>
  fetch(`${url}/ready`).then(
    ({ ok }) => ok,
    () => false,
  );

/** A line of a stream. */
export interface LokiLine {
  readonly labels: Readonly<Record<string, string>>;
  /** RFC 3339, with any number of digits behind the second. */
  readonly time: string;
  readonly line: string;
}

/** Lines of logs, as a collector labels them. */
export const logLines = (documents: readonly LogDocument[]): LokiLine[] =>
  documents.map(({ log, time, kubernetes }) => ({
    labels: {
      namespace: kubernetes.namespace_name,
      pod: kubernetes.pod_name,
      ...(kubernetes.container_name && { container: kubernetes.container_name }),
    },
    time,
    line: log,
  }));

async function load(url: string, lines: readonly LokiLine[]): Promise<void> {
  for (let at = 0; at < lines.length; at += LOADED_AT_ONCE) {
    const streams = lines
      .slice(at, at + LOADED_AT_ONCE)
      .map(({ labels, time, line }) => ({ stream: labels, values: [[nanoseconds(time), line]] }));
    await post(`${url}/loki/api/v1/push`, JSON.stringify({ streams }));
  }
  // Old lines are found in chunks that were written only.
  await post(`${url}/flush`);
}

async function post(url: string, body?: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', ...(body !== undefined && { body, headers }) });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
}

/** Since 1970, of a time with any number of digits behind the second. */
function nanoseconds(time: string): string {
  const [seconds, digits = ''] = time.replace('Z', '').split('.');
  return `${Date.parse(`${seconds}Z`) / 1_000}${digits.padEnd(9, '0')}`;
}
