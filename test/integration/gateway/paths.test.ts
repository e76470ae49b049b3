import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { OK } from '../../support/recording-upstream.ts';
import { parseAnswer } from '../http/raw-answer.ts';
import { type GatewayUnderTest, HEAD, requestOf, startGateway } from './gateway-under-test.ts';
import { RawConnection } from './raw-connection.ts';

let app: GatewayUnderTest;
beforeAll(async () => {
  app = await startGateway();
});
afterAll(() => app.stop());
afterEach(() => {
  app.upstream.requests.length = 0;
  app.upstream.answer = () => OK;
});

const answerTo = async (text: string) => parseAnswer(await app.raw(text));

describe('A-25 G-04 a target that can be read in two ways is 400, and nothing is sent', () => {
  test.each([
    ...['/api/v1/../kapis', '/api/v1/./nodes', '/api/v1/%2e%2e/nodes', '/api/v1/%2E./nodes', '/api/v1/.%2e/nodes'],
    ...[
      '/api/v1/nodes%2fx',
      '/api/v1/nodes%2Fx',
      '/api/v1/nodes%5cx',
      '/api/v1/nodes\\x',
      '/api//v1/nodes',
      '//api/v1/nodes',
    ],
    ...[
      '/api/v1/nodes//',
      '/api/v1/nodes/%00',
      '/api/v1/nodes/%0a',
      '/api/v1/nodes/%zz',
      '/api/v1/nodes/%f',
      '/api/v1/nodes/%ff',
    ],
    ...[
      '/api/v1/nodes/é',
      '/api/v1/nodes#x',
      '/api/v1/nodes?a=é',
      '/api/v1/services/x:443/proxy//y',
      '/healthz/../api',
    ],
    // Go drops these pairs, others read them.
    ...[
      '/api/v1/pods?a;watch=1',
      '/api/v1/pods?watch=1&x=%zz',
      '/api/v1/pods?%ff=1',
      '/apis/apps/v1/deployments?watch=%',
    ],
    ...['/api/v1/pods?watch=fal%C5%BFe', '/api/v1/namespaces/a/pods?fieldSelector=metadata.name=%C3'],
    ...[
      'http://evil.example/api/v1/nodes',
      'https://10.0.0.1/api',
      '/api/v1/namespaces/a/services/https:x:443/proxy/..%2f',
    ],
  ])('%s', async (target) => {
    const before = app.upstream.opened;
    const answer = await answerTo(requestOf(`GET ${Buffer.from(target).toString('latin1')}`));
    expect([answer.status, app.upstream.opened - before, app.upstream.requests]).toEqual([400, 0, []]);
  });
});

describe('A-25 A-26 G-04 any other goes out as its exact bytes', () => {
  test.each([
    ...[
      '/api',
      '/api/',
      '/apis',
      '/api/v1/nodes/',
      '/api/v1/nodes;x=y',
      '/api/v1/nodes/a%2Db',
      '/api/v1/nodes/a+b',
      '/api/v1/nodes/%61',
    ],
    ...[
      '/api/v1/pods?',
      '/api/v1/pods?labelSelector=app%20in%20(a%2Cb),tier',
      '/api/v1/pods?limit=1&limit=2&_=x',
      '/api/v1/pods??&&=',
      '/api/v1/nodes/n?a;b=%zz',
      '/api/v1/namespaces/a/pods?x=%C3%A9&+=1',
    ],
    ...[
      '/api/v1/pods?namespace=kube-system&_method=DELETE',
      '/api/v1/pods?x=%2e%2e%2f%00',
      '/api/v1/pods?a=//../',
      '/api/clusters/host/v1/nodes',
    ],
    ...[
      '/apis/apps/v1/namespaces/a/deployments/x/scale',
      "/api/v1/namespaces/a/pods/x'y!$&()*,;=:@~",
      '/api/v1/nodes/%C3%A9',
    ],
    ...['/openapi/v2', '/openapi/v3', '/openapi/v3/apis/apps/v1?hash=ABC', '/openapi/v2?timeout=32s'],
  ])('%s', async (target) => {
    expect((await answerTo(requestOf(`GET ${target}`))).status).toBe(200);
    expect(app.upstream.last.line).toBe(`GET ${target} HTTP/1.1`);
  });

  test('of the absolute form, the path', async () => {
    await answerTo(requestOf('GET http://gatehouse.example/api/v1/nodes?limit=1'));
    expect(app.upstream.last.line).toBe('GET /api/v1/nodes?limit=1 HTTP/1.1');
  });

  test('behind the path of the configured server', async () => {
    const other = await startGateway();
    const behind = await startGateway({ server: `${other.upstream.url}/k8s/clusters/c-1/` });
    await behind.raw(requestOf('GET /api/v1/nodes/?x=%2F'));
    expect(other.upstream.last.line).toBe('GET /k8s/clusters/c-1/api/v1/nodes/?x=%2F HTTP/1.1');
    await behind.stop();
    await other.stop();
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'])(
    'A-26 with the method %s as sent, whatever a header says',
    async (method) => {
      const more = `X-HTTP-Method-Override: GET\r\nX-Original-URL: /api/v1/secrets\r\n${method === 'HEAD' ? '' : 'Content-Length: 0\r\n'}`;
      await answerTo(requestOf(`${method} /api/v1/namespaces/a/pods/x`, more));
      expect(app.upstream.last.line).toBe(`${method} /api/v1/namespaces/a/pods/x HTTP/1.1`);
    },
  );
});

describe('A-27 the proxy subresources', () => {
  const paths = [
    ...[
      '/api/v1/nodes/x/proxy',
      '/api/v1/nodes/x/proxy/',
      '/api/v1/nodes/x:10250/proxy/pods',
      '/api/v1/nodes/x/prox%79/run/a',
    ],
    ...[
      '/api/v1/namespaces/a/services/x:443/proxy/',
      '/api/v1/namespaces/a/services/https:x:443/proxy/api',
      '/api/v1/namespaces/a/pods/x/proxy',
    ],
    // Whoever serves a group of its own decides there what a proxy is.
    ...['/apis/cluster.karmada.io/v1alpha1/clusters/c/proxy/api', '/apis/g.example/v1/proxy/things/x'],
    ...['/api/v1/proxy/nodes/x', '/api/v1/proxy/namespaces/a/services/x/', '/api/v1/services/x:443/proxy/'],
  ];

  test.each(paths)('%s is 403 with every method, and nothing is sent', async (path) => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'])
      expect((await answerTo(requestOf(`${method} ${path}`))).status).toBe(403);
    const upgrade = requestOf(`GET ${path}`, 'Upgrade: websocket\r\n').replace(
      'Connection: close',
      'Connection: Upgrade',
    );
    expect((await answerTo(upgrade)).status).toBe(403);
    expect(app.upstream.requests).toEqual([]);
  });

  const CONNECTIONS = [
    '/apis/subresources.kubevirt.io/v1/namespaces/a/virtualmachineinstances/vm/console',
    '/apis/subresources.kubevirt.io/v1/namespaces/a/virtualmachineinstances/vm/portforward/22/tcp',
    '/apis/proxy.karmada.io/v1alpha1/namespaces/a/things/t/exec',
  ];

  test.each(CONNECTIONS)('upgrades of aggregated groups are 403 as they are: %s', async (path) => {
    const upgrade = requestOf(`GET ${path}`, 'Upgrade: websocket\r\n').replace(
      'Connection: close',
      'Connection: Upgrade',
    );
    const answer = await answerTo(upgrade);
    expect([answer.status, answer.body.includes('gateway.allowProxySubresources')]).toEqual([403, true]);
    expect(app.upstream.requests).toEqual([]);
    expect((await answerTo(requestOf(`GET ${path}`))).status).toBe(200);
  });

  test('upgrades of aggregated groups are passed on where they are allowed', async () => {
    const open = await startGateway({ options: { allowProxySubresources: true } });
    open.upstream.answer = () =>
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n';
    for (const path of CONNECTIONS) {
      const head = `${HEAD}Upgrade: websocket\r\nConnection: Upgrade\r\n`;
      const client = await RawConnection.open(open.port, `GET ${path} HTTP/1.1\r\n${head}\r\n`);
      expect(await client.until(/\r\n\r\n/)).toContain('HTTP/1.1 101 ');
      open.upstream.last.socket.write('hello');
      await client.until(/hello$/);
      client.socket.destroy();
    }
    await open.stop();
  });

  test('are passed on where they are allowed', async () => {
    const open = await startGateway({ options: { allowProxySubresources: true } });
    for (const path of paths) {
      expect(parseAnswer(await open.raw(requestOf(`GET ${path}`))).status).toBe(200);
      expect(open.upstream.last.line).toBe(`GET ${path} HTTP/1.1`);
    }
    await open.stop();
  });

  test.each([
    ...[
      '/api/v1/namespaces/a/pods/proxy',
      '/api/v1/namespaces/proxy/pods',
      '/apis/x.io/v1/things/proxy',
      '/api/v1/nodes?x=/proxy',
    ],
    ...['/api/v1/namespaces/a/pods/x/eviction', '/api/v1/namespaces/a/serviceaccounts/x/token'],
  ])('%s is none of them', async (path) => {
    expect((await answerTo(requestOf(`POST ${path}`, 'Content-Length: 0\r\n'))).status).toBe(200);
  });
});

describe('methods and paths that are ours', () => {
  test.each(['/api', '/api/v1/nodes', '/apis/apps', '/openapi/v2', '/openapi/v3/api/v1'])(
    'G-18 %s without a token is 401',
    async (path) => {
      const answer = await answerTo(requestOf(`GET ${path}`).replace(/Authorization: .*\r\n/, ''));
      expect([answer.status, answer.headers.get('www-authenticate'), app.upstream.requests.length]).toEqual([
        401,
        'Bearer realm="gatehouse"',
        0,
      ]);
    },
  );

  test('G-19 OPTIONS is answered by us', async () => {
    const answer = await answerTo('OPTIONS /api/v1/nodes HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    expect([answer.status, answer.headers.get('allow')]).toEqual([204, 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT']);
    expect(app.upstream.requests).toEqual([]);
  });

  test.each(['TRACE', 'PROPFIND', 'QUERY'])('%s is 405', async (method) => {
    expect((await answerTo(requestOf(`${method} /api/v1/nodes`))).status).toBe(405);
    expect(app.upstream.requests).toEqual([]);
  });

  test.each([
    '/apix',
    '/API/v1',
    '/apis2',
    '/openapi',
    '/version',
    '/logs',
    '/metrics',
    '/debug/pprof',
    '/.well-known/openid-configuration',
    '/openapi/v2/x',
  ])('%s does not go out', async (path) => {
    await answerTo(requestOf(`GET ${path}`));
    expect(app.upstream.requests).toEqual([]);
  });
});

describe('/version, while the gateway is on', () => {
  const CLUSTER = {
    major: '1',
    minor: '36',
    gitVersion: 'v1.36.2',
    gitCommit: 'd'.repeat(40),
    platform: 'linux/arm64',
  };
  let other: GatewayUnderTest;
  let known: typeof CLUSTER | undefined;
  beforeAll(async () => {
    other = await startGateway({ clusterVersion: () => known });
  });
  afterAll(() => other.stop());

  test('is the cluster’s, with our release beside it, without a call to the cluster', async () => {
    known = CLUSTER;
    const answer = await fetch(`${other.url}/version`);
    expect([answer.status, await answer.json()]).toEqual([200, { ...CLUSTER, gatehouse: 'v0.4.0' }]);
    expect(other.upstream.requests).toEqual([]);
  });

  test('/kapis/version is as it is without: clients of KubeSphere 3.4 read it', async () => {
    known = CLUSTER;
    const answer = await fetch(`${other.url}/kapis/version`);
    expect(await answer.json()).toMatchObject({ gitVersion: 'v3.4.1+gatehouse.0.4.0', kubernetes: CLUSTER });
  });

  test('is 503 until the cluster’s is known: ours would be taken for it', async () => {
    known = undefined;
    const answer = await fetch(`${other.url}/version`);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await answer.json()).toMatchObject({ message: 'the version of the cluster is not known yet' });
    expect((await fetch(`${other.url}/kapis/version`)).status).toBe(200);
  });
});
