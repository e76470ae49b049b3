import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connectCluster } from '../../../src/kubernetes/cluster.ts';
import { atEnd } from '../../support/at-end.ts';
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
    expect(logged).toMatchObject([{ level: 30, user: 'jane', msg: 'we impersonate another user at the API server' }]);
  });

  test('is reached by a proxy, and the log says by which, without what we prove ourselves with', async () => {
    const { logged, text } = await connect({ cluster: ', proxy-url: "http://u:canary@proxy:8080"' });
    const msg = 'the API server is reached through a proxy';
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

describe('mirrors of Secrets', () => {
  test('may be made for several purposes, and one of them shows its lag', async () => {
    const { connected } = await connect({});
    connected.mirrorSecrets('sessions', { of: 'sessions' }, { exposeLag: true });
    connected.mirrorSecrets('passwords', { of: 'passwords' });
    expect(() => connected.mirrorSecrets('others', {}, { exposeLag: true })).toThrow(/already been registered/);
  });
});

describe('what the cluster is asked at its start', () => {
  /** A cluster that gives this one answer to everything, and what it was asked. */
  async function answering(status: number, body: string, release?: string) {
    const asked: string[] = [];
    const agents: unknown[] = [];
    const server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers.accept}`);
      agents.push(request.headers['user-agent']);
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    atEnd(() => server.close());
    const kubeconfig = join(folder, 'config');
    await writeFile(
      kubeconfig,
      `current-context: here
contexts: [{name: here, context: {cluster: one}}]
clusters: [{name: one, cluster: {server: "http://127.0.0.1:${(server.address() as AddressInfo).port}"}}]`,
    );
    const shared = { clock: new FakeClock(), random, logger: pino({ level: 'silent' }), registry: new Registry() };
    const cluster = await connectCluster({ kubeconfig, namespace: undefined, version: release }, shared);
    atEnd(() => cluster.close());
    return { cluster, asked, agents };
  }
  const { signal } = new AbortController();

  test('is its version, whole', async () => {
    const { cluster, asked } = await answering(200, '{"minor":"34","odd":true}');
    expect(await cluster.version(signal)).toEqual({ minor: '34', odd: true });
    expect(asked).toEqual(['GET /version application/json']);
  });

  test.each([
    ['1.2.3', 'gatehouse/1.2.3'],
    [undefined, 'gatehouse'],
  ])('is asked with our name, and our version where it is known: %s', async (release, agent) => {
    const { cluster, agents } = await answering(200, '{"minor":"34"}', release);
    await cluster.version(signal);
    expect(agents).toEqual([agent]);
  });

  test.each([
    [500, '{"minor":"34"}'],
    [200, 'null'],
    [200, '"34"'],
    [200, 'no JSON'],
  ])('is no version with %i %s', async (status, body) => {
    const { cluster } = await answering(status, body);
    await expect(cluster.version(signal)).rejects.toThrow('the version');
  });

  test.each([
    [200, '{"major":"1","minor":"34"}', true],
    [200, '{"major":"1","minor":"34+"}', true],
    [200, '{"major":"1","minor":"33"}', false],
    [200, '{}', false],
    [500, '{"major":"1","minor":"34"}', false],
  ])('is whether it checks its own cache, which it does since 1.34: %i %s', async (status, body, expected) => {
    const { cluster } = await answering(status, body);
    expect(await cluster.checksItsCache(signal)).toBe(expected);
  });

  test('is the keys of service accounts', async () => {
    const { cluster, asked } = await answering(200, '{"keys":[]}');
    expect(await cluster.serviceAccountKeys(signal)).toEqual({ keys: [] });
    expect(asked).toEqual(['GET /openid/v1/jwks application/jwk-set+json']);
  });

  test('is no key with another status', async () => {
    const { cluster } = await answering(403, '{"keys":[]}');
    await expect(cluster.serviceAccountKeys(signal)).rejects.toThrow('the service account keys');
  });
});
