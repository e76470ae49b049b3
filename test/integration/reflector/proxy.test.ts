import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ConnectProxy, startConnectProxy } from '../../support/connect-proxy.ts';
import { selfSigned } from '../../support/self-signed.ts';
import { startTlsFront, type TlsFront } from '../../support/tls-front.ts';
import { connect, Mirror } from './mirror.ts';

const certificate = selfSigned('api');

let proxy: ConnectProxy;
let front: TlsFront | undefined;
beforeEach(async () => {
  proxy = await startConnectProxy();
});
afterEach(async () => {
  await front?.stop();
  front = undefined;
  await proxy.stop();
});

/** A kubeconfig that names the proxy with `user`, and a server behind TLS. */
const behindProxy = (user = '') =>
  connect({}, async (server, folder) => {
    front = await startTlsFront(Number(new URL(server.url).port), certificate);
    await writeFile(join(folder, 'ca.crt'), certificate.cert);
    const address = proxy.url.replace('//', `//${user}`);
    const cluster = `certificate-authority: ca.crt\n      proxy-url: ${address}\n      server:`;
    return server.kubeconfig().replace(server.url, front.url).replace('server:', cluster);
  });

describe('a cluster behind a proxy', () => {
  test('is listed and watched through tunnels alone, with TLS to the server itself', async () => {
    const connected = await behindProxy('me:s%20cret@');
    connected.server.objects.create('nodes', { metadata: { name: 'a' } });
    const mirror = new Mirror(connected);
    await mirror.elapse(() => mirror.converged() && mirror.watching());
    connected.server.objects.create('nodes', { metadata: { name: 'b' } });
    await mirror.elapse(mirror.converged);
    const authorization = `Basic ${Buffer.from('me:s cret').toString('base64')}`;
    const target = new URL(front?.url ?? '').host;
    expect(new Set(proxy.asked.map((one) => JSON.stringify(one)))).toEqual(
      new Set([JSON.stringify({ target, authorization })]),
    );
    expect(proxy.asked.length).toBe(await mirror.value('cluster_connections'));
  });

  test('is followed on after its tunnels were cut', async () => {
    const connected = await behindProxy();
    const mirror = new Mirror(connected);
    await mirror.elapse(() => mirror.converged() && mirror.watching());
    front?.reset();
    connected.server.objects.create('nodes', { metadata: { name: 'a' } });
    await mirror.elapse(mirror.converged);
    expect(mirror.store.size).toBe(1);
  });

  test('is away while the proxy refuses, which is told with its answer', async () => {
    const { cluster } = await behindProxy();
    proxy.answerWith(407);
    await expect(cluster.version(AbortSignal.timeout(60_000))).rejects.toThrow(
      `the proxy ${new URL(proxy.url).host} gives no tunnel: it answers 407`,
    );
    proxy.answerWith(200);
    expect(await cluster.version(AbortSignal.timeout(60_000))).toHaveProperty('gitVersion');
  });

  test('is away while the proxy is, and asked again', async () => {
    const { cluster } = await behindProxy();
    await proxy.stop();
    await expect(cluster.version(AbortSignal.timeout(60_000))).rejects.toThrow(/gives no tunnel: connect ECONNREFUSED/);
    proxy = await startConnectProxy();
  });

  test('is not trusted because the proxy is', async () => {
    const { cluster } = await behindProxy();
    front?.use(selfSigned('somebody'));
    await expect(cluster.version(AbortSignal.timeout(60_000))).rejects.toThrow(/certificate/);
  });

  test('may be one without TLS, which gets no credential', async () => {
    const { cluster, server } = await connect({}, (simulated) =>
      simulated
        .kubeconfig()
        .replace('server:', `proxy-url: ${proxy.url}\n      server:`)
        .replace(/token: .*/, 'token: ""'),
    );
    expect(await cluster.version(AbortSignal.timeout(60_000))).toHaveProperty('gitVersion');
    expect(server.evidence.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
    expect(proxy.asked).toEqual([{ target: new URL(server.url).host, authorization: undefined }]);
  });
});
