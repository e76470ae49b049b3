import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { OK, valuesOf } from '../../support/recording-upstream.ts';
import { parseAnswer } from '../http/raw-answer.ts';
import { ALICE, type GatewayUnderTest, requestOf, startGateway } from './gateway-under-test.ts';
import { RawConnection } from './raw-connection.ts';

let app: GatewayUnderTest;
beforeAll(async () => {
  app = await startGateway();
});
afterAll(() => app.stop());
afterEach(() => {
  vi.restoreAllMocks();
  app.upstream.answer = () => OK;
  app.upstream.requests.length = 0;
});

const answerTo = async (text: string) => parseAnswer(await app.raw(text));
const named = (name: string, more: object = {}) =>
  app.bearers.set('other', { identity: { ...ALICE, name, ...more }, cached: true });
let serial = 0;
/** A client's own id for one call. The events of a call before it may still come: a test looks at those with its id alone. */
const newId = (): string => `call-${++serial}`;
const eventsOf = (id: string) => app.events.filter(({ fields }) => fields['requestId'] === id);
const asOther = (line: string): string => requestOf(line).replace('Bearer good', 'Bearer other');

describe('the identity that goes out', () => {
  test('G-01 is the caller’s: one user, each group in a header of its own, our bearer', async () => {
    const answer = await answerTo(requestOf('GET /api/v1/nodes'));
    expect(answer.status).toBe(200);
    const { line, headers } = app.upstream.last;
    expect(line).toBe('GET /api/v1/nodes HTTP/1.1');
    expect(valuesOf(headers, 'impersonate-user')).toEqual(['alice']);
    expect(valuesOf(headers, 'impersonate-group')).toEqual(['dev', 'ops', 'system:authenticated']);
    expect(valuesOf(headers, 'impersonate-extra-gatehouse.io%2fsession')).toEqual(['s-1']);
    expect(valuesOf(headers, 'authorization')).toEqual(['Bearer own-token']);
    expect(valuesOf(headers, 'x-forwarded-for')).toEqual(['127.0.0.1']);
    expect(valuesOf(headers, 'audit-id')).toEqual([answer.headers.get('x-request-id')]);
    expect(valuesOf(headers, 'impersonate-uid')).toEqual([]);
  });

  test('G-01 sends groups with blanks and letters beyond ASCII as their UTF-8 octets, on upgrades too', async () => {
    const groups = ['Domain Admins', 'Entwickler-S\u00fcd', '\u958b\u767a'];
    named('bob', { groups });
    app.upstream.answer = (request) => (request.line.includes('exec') ? YES : OK);
    const lines = [asOther('GET /api/v1/nodes'), asOther('GET /api/v1/namespaces/a/pods/p/exec')];
    for (const [at, text] of lines.entries()) {
      app.upstream.requests.length = 0;
      if (at === 0) expect((await answerTo(text)).status).toBe(200);
      else {
        const upgrade = text.replace('Connection: close\r\n', '').replace('\r\n\r\n', `\r\n${UPGRADE}\r\n`);
        const client = await RawConnection.open(app.port, upgrade);
        await client.until(/ 101 /);
        client.socket.destroy();
      }
      const sent = valuesOf(app.upstream.last.headers, 'impersonate-group');
      expect(sent.map((value) => Buffer.from(value, 'latin1').toString())).toEqual([...groups, 'system:authenticated']);
    }
  });

  test('G-16 a member of a group that no header can carry is 403, which names it', async () => {
    named('bob', { groups: ['dev', ' padded'] });
    const answer = await answerTo(asOther('GET /api/v1/nodes'));
    expect([answer.status, JSON.parse(answer.body).message]).toEqual([
      403,
      'members of the group " padded" may not call the cluster through this server: no header can carry its name',
    ]);
    expect(app.upstream.requests).toEqual([]);
  });

  test('G-01 has our own id for the cluster’s audit log, whatever id the client has chosen, and our line has both', async () => {
    const ids = new Set<string>();
    const chosen = newId();
    for (let count = 1; count <= 2; count++) {
      await answerTo(requestOf('GET /api/v1/nodes', `X-Request-Id: ${chosen}\r\n`));
      const [auditId = ''] = valuesOf(app.upstream.last.headers, 'audit-id');
      await expect.poll(() => eventsOf(chosen)).toHaveLength(count);
      expect(eventsOf(chosen).at(-1)).toMatchObject({ event: 'cluster_call', fields: { ownRequestId: auditId } });
      expect(auditId).toMatch(/^[0-9a-f]{16}$/);
      ids.add(auditId);
    }
    expect(ids.size).toBe(2);
  });

  test('G-01 leaves an audit line: who, as whom, what, and how it went', async () => {
    const answer = await answerTo(requestOf('GET /apis/apps/v1/namespaces/shop/deployments/web'));
    const id = answer.headers.get('x-request-id') ?? '';
    await expect.poll(() => eventsOf(id).map(({ event }) => event)).toEqual(['cluster_call']);
    expect(eventsOf(id)[0]?.fields).toEqual({
      ...{
        result: 'ok',
        user: 'alice',
        impersonatedUser: 'alice',
        sid: 's-1',
        clientId: 'console',
        source: '127.0.0.1',
      },
      ...{ verb: 'get', group: 'apps', version: 'v1', resource: 'deployments', namespace: 'shop', name: 'web' },
      ...{ status: 200, requestId: id },
    });
  });

  const UPGRADE = 'Upgrade: websocket\r\nConnection: Upgrade\r\n';
  const YES = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n';
  const STREAM = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
  const streams = [
    ['a watch', 'GET /api/v1/namespaces/a/pods?watch=1', '', STREAM, { verb: 'watch', resource: 'pods' }],
    [
      'a log',
      'GET /api/v1/namespaces/a/pods/p/log?follow=1',
      '',
      STREAM,
      { verb: 'get', subresource: 'log', name: 'p' },
    ],
    ['an exec', 'GET /api/v1/namespaces/a/pods/p/exec', UPGRADE, YES, { verb: 'get', subresource: 'exec', name: 'p' }],
  ] as const;

  test.each(streams)(
    'G-01 leaves an audit line at the beginning of %s, and one at its end, with one id',
    async (_, line, headers, answer, asked) => {
      const id = newId();
      app.upstream.answer = () => answer;
      const text = requestOf(line, `X-Request-Id: ${id}\r\n${headers}`);
      const client = await RawConnection.open(
        app.port,
        headers === '' ? text : text.replace('Connection: close\r\n', ''),
      );
      await client.until(/\r\n\r\n/);
      const [began, ...more] = eventsOf(id);
      expect([began?.event, more]).toEqual(['cluster_call_began', []]);
      expect(began?.fields).toMatchObject({
        ...{ ...asked, user: 'alice', impersonatedUser: 'alice', sid: 's-1', clientId: 'console', namespace: 'a' },
        ...{ requestId: id, ownRequestId: expect.stringMatching(/^[0-9a-f]{16}$/), source: '127.0.0.1' },
      });
      client.socket.destroy();
      await expect.poll(() => eventsOf(id).map(({ event }) => event)).toEqual(['cluster_call_began', 'cluster_call']);
      expect(eventsOf(id)[1]?.fields).toMatchObject({
        ...asked,
        ownRequestId: began?.fields['ownRequestId'],
        sid: 's-1',
      });
    },
  );

  test.each([
    ['that ends at once', 'GET /api/v1/nodes'],
    ['of which nothing is sent', 'GET /api/v1/nodes/n/proxy/'],
  ])('G-01 a call %s leaves one line', async (_, line) => {
    const id = newId();
    await app.raw(requestOf(line, `X-Request-Id: ${id}\r\n`));
    await expect.poll(() => eventsOf(id).map(({ event }) => event)).toEqual(['cluster_call']);
  });

  test.each(['get', 'upgrade'])(
    'G-03 a header builder that throws is 500 and nothing is sent, of a %s',
    async (kind) => {
      const before = app.upstream.opened;
      vi.spyOn(app.policy, 'headersOf').mockImplementation(() => {
        throw new Error('planted');
      });
      const upgrade = 'Upgrade: websocket\r\nConnection: Upgrade\r\n';
      const text = kind === 'get' ? requestOf('GET /api') : requestOf('GET /api/v1/namespaces/a/pods/p/exec', upgrade);
      const answer = await answerTo(text.replace(kind === 'get' ? '\0' : 'Connection: close\r\n', ''));
      expect(answer.status).toBe(500);
      expect(answer.body).not.toContain('planted');
      expect([app.upstream.opened - before, app.upstream.requests.length]).toEqual([0, 0]);
    },
  );

  const alice = ['Impersonate-User', 'alice', 'Impersonate-Group', 'system:authenticated'];
  test.each<[string, string[]]>([
    ['no user', alice.slice(2)],
    ['two users', [...alice, 'Impersonate-User', 'alice']],
    ['another user', ['Impersonate-User', 'bob', ...alice.slice(2)]],
    ['no group', alice.slice(0, 2)],
    ['a group that is not the caller’s', [...alice, 'Impersonate-Group', 'admins']],
    ['system:masters', [...alice, 'Impersonate-Group', 'system:masters']],
    ['a uid', [...alice, 'Impersonate-Uid', '7']],
    ['an extra of another name', [...alice, 'Impersonate-Extra-Scopes', 'x']],
    ['another session', [...alice, 'Impersonate-Extra-gatehouse.io%2Fsession', 's-2']],
  ])('G-03 headers with %s are 500 and nothing is sent', async (_, headers) => {
    vi.spyOn(app.policy, 'headersOf').mockReturnValue(headers);
    expect((await answerTo(requestOf('GET /api'))).status).toBe(500);
    expect(app.upstream.requests).toEqual([]);
  });

  test('G-03 a user that no header can carry is 500 and nothing is sent', async () => {
    named('bob\n', { groups: ['dev', 'system:authenticated'] });
    expect((await answerTo(asOther('GET /api'))).status).toBe(500);
    expect(app.upstream.requests).toEqual([]);
  });
});

describe('whom the cluster would take for one of its own', () => {
  const users = ['', 'system:admin', 'system:node:x', 'system:serviceaccount:a:b', 'kubernetes-admin', 'kube-admin'];
  test.each([...users, 'kubernetes-super-admin', 'kubeadm:x'])(
    'A-32 G-03 user "%s" is 403, without a connection',
    async (name) => {
      const [before, refused] = [app.upstream.opened, await app.metric('gatehouse_gateway_refusals_total', RESERVED)];
      named(name);
      const answer = await answerTo(asOther('GET /api/v1/pods'));
      expect(answer.status).toBe(403);
      expect(JSON.parse(answer.body)).toMatchObject({ kind: 'Status', reason: 'Forbidden', code: 403 });
      expect([app.upstream.opened - before, app.upstream.requests.length]).toEqual([0, 0]);
      expect((await app.metric('gatehouse_gateway_refusals_total', RESERVED)) - refused).toBe(1);
      expect(app.events.map(({ event }) => event)).toContain('reserved_identity_refused');
    },
  );

  test.each([
    ['in the identity', { groups: ['system:masters', 'system:authenticated'] }],
    ['in the user object, though no token carries it', { withheldGroups: ['system:masters'] }],
    ['of another name of the cluster’s', { groups: ['system:nodes', 'system:authenticated'] }],
    ['of kubeadm', { groups: ['kubeadm:cluster-admins'] }],
  ])('A-31 a reserved group %s is 403, without a connection', async (_, more) => {
    named('bob', more);
    const answer = await answerTo(asOther('GET /api/v1/pods'));
    expect(answer.status).toBe(403);
    expect(app.upstream.requests).toEqual([]);
  });
});

const RESERVED = { reason: 'reserved_identity' };
