import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connectCluster } from '../../../src/kubernetes/cluster.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const random = { bytes: (length: number) => Buffer.alloc(length), fraction: () => 0 };
let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-cluster-'));
});
afterEach(() => rm(folder, { recursive: true }));

/** The cluster of a kubeconfig with this cluster, context and user; nobody listens at its address. */
async function connect(parts: { cluster?: string; context?: string; user?: string }, namespace?: string) {
  const kubeconfig = join(folder, 'config');
  const { cluster = '', context = '', user = '' } = parts;
  await writeFile(
    kubeconfig,
    `current-context: here
contexts: [{name: here, context: {cluster: one, user: me${context}}}]
clusters: [{name: one, cluster: {server: "https://127.0.0.1:1"${cluster}}}]
users: [{name: me, user: {token: canary${user}}}]`,
  );
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(line) });
  const shared = { clock: new FakeClock(), random, logger, registry: new Registry() };
  const connected = await connectCluster({ kubeconfig, namespace }, shared);
  await connected.close();
  return { connected, logged: lines.map((line) => JSON.parse(line) as object), text: lines.join('') };
}

describe('the cluster', () => {
  test('is found without speaking to it, and without a word where nothing is unusual', async () => {
    expect((await connect({})).logged).toEqual([]);
  });

  test('takes us for another user, and the log says for whom', async () => {
    const { logged } = await connect({ user: ', as: jane' });
    expect(logged).toMatchObject([{ level: 30, user: 'jane', msg: 'the API server takes us for another user' }]);
  });

  test('is reached by a proxy, and the log says by which, without what we prove ourselves with', async () => {
    const { logged, text } = await connect({ cluster: ', proxy-url: "http://u:canary@proxy:8080"' });
    const msg = 'the API server is reached by way of a proxy';
    expect(logged).toMatchObject([{ level: 30, proxy: 'proxy:8080', msg }]);
    expect(text).not.toContain('canary');
  });

  test('has our Secrets in the namespace that was set, else in that of the context, else in default', async () => {
    const context = ', namespace: apps';
    expect((await connect({ context }, 'ours')).connected.namespace).toBe('ours');
    expect((await connect({ context })).connected.namespace).toBe('apps');
    expect((await connect({})).connected.namespace).toBe('default');
  });
});
