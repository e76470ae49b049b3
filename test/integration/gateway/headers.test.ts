import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { answerOf, OK, valuesOf } from '../../support/recording-upstream.ts';
import { parseAnswer } from '../http/raw-answer.ts';
import { type GatewayUnderTest, requestOf, startGateway } from './gateway-under-test.ts';

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
const names = (headers: readonly string[]): string[] => headers.filter((_, at) => at % 2 === 0).sort();

/** What goes out of a request that has none of the headers that are copied. */
const OURS = [
  ...['Audit-ID', 'Authorization', 'Impersonate-Extra-gatehouse.io%2Fsession', 'Impersonate-Group'],
  ...['Impersonate-Group', 'Impersonate-Group', 'Impersonate-User', 'X-Forwarded-For', 'connection', 'host'],
].sort();
const OURS_ON_UPGRADES = [
  ...OURS.filter((name) => name !== 'connection' && name !== 'host'),
  'Connection',
  'Host',
  'Origin',
  'Upgrade',
];

/** A client that asks to be somebody else. */
const posing: readonly string[] = [
  ...[
    'Impersonate-User: root',
    'impersonate-user: root',
    'IMPERSONATE-USER: root',
    'Impersonate_User: root',
    'Impersonate-User:',
  ],
  ...['Impersonate-Group: system:masters', 'Impersonate_Group: system:masters', 'Impersonate-Group:'],
  ...[
    'Impersonate-Uid: 7',
    'Impersonate-Extra-Scopes: x',
    'Impersonate-Extra-gatehouse.io%2Fsession: s-9',
    'Impersonate: x',
  ],
];

const forged: readonly string[] = [
  ...[
    'X-Remote-User: root',
    'X-Remote-Group: system:masters',
    'X-Remote-Extra-A: b',
    'X_Remote_User: root',
    'X-Remote-Uid: 7',
  ],
  ...[
    'X-Client-Cert: x',
    'X-Client-IP: 9.9.9.9',
    'X-Client-Verify: SUCCESS',
    'X-Forwarded-User: root',
    'X-Forwarded-Host: evil',
  ],
  ...[
    'X-Forwarded-For: 9.9.9.9',
    'X_Forwarded_For: 9.9.9.9',
    'X-Real-IP: 9.9.9.9',
    'Forwarded: for=9.9.9.9',
    'X-Forwarded-Uri: /x',
  ],
  ...['X-Original-URL: /api/v1/secrets', 'X-Rewrite-URL: /api/v1/secrets', 'X-HTTP-Method-Override: DELETE'],
  ...[
    'Cookie: a=b',
    'Origin: http://gatehouse.example',
    'Proxy-Authorization: Basic eA==',
    'Proxy-Connection: keep-alive',
  ],
  ...[
    'Te: trailers',
    'Trailer: X',
    'Keep-Alive: timeout=5',
    'HTTP2-Settings: AAMAAABk',
    'X-KubeSphere-Rawquery: watch=1',
  ],
  ...[
    'Audit-ID: forged',
    'X-Kubernetes-Anything: 1',
    'Sec-WebSocket-Key: x',
    'X-Stream-Protocol-Version: v4',
    'traceparent: 00-x',
  ],
];
const naming = [
  'impersonate-user',
  'impersonate-group',
  'authorization',
  'host',
  'x-forwarded-for',
  'audit-id',
  'content-length',
];

describe('headers of the client', () => {
  test.each(forged)('A-28 A-30 A-33 A-34 G-02 "%s" does not go out', async (line) => {
    expect((await answerTo(requestOf('GET /api/v1/nodes', `${line}\r\n`))).status).toBe(200);
    expect(names(app.upstream.last.headers)).toEqual(OURS);
    expect(valuesOf(app.upstream.last.headers, 'impersonate-user')).toEqual(['alice']);
    expect(valuesOf(app.upstream.last.headers, 'x-forwarded-for')).toEqual(['127.0.0.1']);
    expect(app.upstream.last.headers.join('\n')).not.toMatch(/root|masters|9\.9\.9\.9|forged/);
  });

  test.each(naming)('A-28 N-55 G-02 "Connection: %s" takes nothing away', async (name) => {
    const text = requestOf('GET /api/v1/nodes').replace('Connection: close', `Connection: close, ${name}`);
    expect((await answerTo(text)).status).toBe(200);
    expect(names(app.upstream.last.headers)).toEqual(OURS);
  });

  test('A-28 A-30 A-33 G-02 all of them at once change nothing', async () => {
    // Twice would be two Origins, two traceparents and so on; the guard takes 100 lines.
    const lines = `${forged.join('\r\n')}\r\n`;
    const text = requestOf('GET /api/v1/nodes', lines).replace(
      'Connection: close',
      `Connection: close, ${naming.join(', ')}`,
    );
    expect((await answerTo(text)).status).toBe(200);
    expect(names(app.upstream.last.headers)).toEqual(OURS);
  });

  test.each([...forged, 'all'])('G-02 of an exec upgrade, "%s" does not go out', async (line) => {
    app.upstream.answer = () => answerOf('403 Forbidden', '{}');
    const lines = line === 'all' ? forged.filter((one) => !/^(Origin|Sec-|X-Stream)/.test(one)).join('\r\n') : line;
    const isCopied = /^(Sec-WebSocket-Key|X-Stream-Protocol-Version)/.test(line);
    const upgrade = requestOf('GET /api/v1/namespaces/a/pods/p/exec', `Upgrade: websocket\r\n${lines}\r\n`).replace(
      'Connection: close',
      `Connection: Upgrade, ${naming.join(', ')}`,
    );
    expect((await answerTo(upgrade)).status).toBe(403);
    const sent = names(app.upstream.last.headers).filter((name) => !isCopied || !line.startsWith(name));
    expect(sent).toEqual([...OURS_ON_UPGRADES].sort());
    expect(valuesOf(app.upstream.last.headers, 'origin')).toEqual([app.upstream.url]);
    expect(valuesOf(app.upstream.last.headers, 'impersonate-user')).toEqual(['alice']);
  });

  test('A-30 a folded header is 400', async () => {
    const answer = await answerTo(requestOf('GET /api', 'X: a\r\n Impersonate-User: root\r\n'));
    expect([answer.status, app.upstream.requests.length]).toEqual([400, 0]);
  });

  test.each([
    ...[
      'User-Agent: a\x07b',
      'Accept: a\x01',
      'Kubectl-Command: a\x7f',
      'If-Match: \x1b[2J',
      'Range: a\x0bb',
      'Tracestate: a\x08',
    ],
  ])('a control character in what would be copied is 400, and nothing is sent: %j', async (line) => {
    for (const headers of [`${line}\r\n`, `Upgrade: websocket\r\n${line}\r\n`]) {
      const text = requestOf('GET /api/v1/namespaces/a/pods/p/exec', headers);
      const isUpgrade = headers.startsWith('Upgrade');
      const sent = isUpgrade ? text.replace('Connection: close', 'Connection: Upgrade') : text;
      expect([(await answerTo(sent)).status, app.upstream.requests.length]).toEqual([400, 0]);
    }
  });

  test('A-35 the agent of a prober and its parameters give no right', async () => {
    const line = 'GET /api/v1/nodes?allowed=true';
    const answer = await answerTo(
      requestOf(line, 'User-Agent: kube-probe/1.34\r\n').replace('Bearer good', 'Bearer none'),
    );
    expect([answer.status, app.upstream.requests.length]).toEqual([401, 0]);
  });

  test('are copied when the cluster needs them, as sent, in their order', async () => {
    const trace = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const copied = [
      ...[
        'Accept: application/json;as=Table;v=v1;g=meta.k8s.io, application/json',
        'accept-encoding: gzip',
        'Accept-Language: de',
      ],
      ...[
        'Content-Type: application/json',
        'Content-Encoding: gzip',
        'User-Agent: kubectl/v1.34',
        'If-Match: "1"',
        'If-None-Match: "2"',
      ],
      ...[
        'If-Modified-Since: x',
        'If-Unmodified-Since: y',
        'Range: bytes=0-1',
        'Kubectl-Command: kubectl get',
        'Kubectl-Session: 1',
      ],
      ...[`Traceparent: ${trace}`, 'Tracestate: a=b'],
    ];
    await answerTo(requestOf('GET /api', `${copied.join('\r\n')}\r\n`));
    const { headers } = app.upstream.last;
    const pairs = headers.flatMap((text, at) => (at % 2 === 0 ? [`${text}: ${headers[at + 1]}`] : []));
    expect(pairs.filter((pair) => copied.includes(pair))).toEqual(copied);
  });
});

describe('a client that asks to be somebody else', () => {
  let strict: GatewayUnderTest;
  beforeAll(async () => {
    strict = await startGateway();
  });
  afterAll(() => strict.stop());

  test.each(posing)('A-30 "%s" is 403, and nothing is sent', async (line) => {
    const answer = parseAnswer(await strict.raw(requestOf('GET /api', `${line}\r\n`)));
    expect([answer.status, strict.upstream.opened]).toEqual([403, 0]);
  });

  test.each(posing)('A-30 "%s" on an exec upgrade is 403, and nothing is sent', async (line) => {
    const upgrade = requestOf('GET /api/v1/namespaces/a/pods/p/exec', `Upgrade: websocket\r\n${line}\r\n`);
    const answer = parseAnswer(await strict.raw(upgrade.replace('Connection: close', 'Connection: Upgrade')));
    expect([answer.status, strict.upstream.opened]).toEqual([403, 0]);
    expect(answer.body).toContain('Impersonate headers are not accepted here');
  });
});

describe('headers of the cluster', () => {
  const answered = (headers: string): void => {
    app.upstream.answer = () => answerOf('200 OK', '{}', headers);
  };

  test.each([
    ...[
      'Set-Cookie: a=b',
      'WWW-Authenticate: Basic',
      'Access-Control-Allow-Origin: *',
      'Keep-Alive: timeout=1',
      'Upgrade: h2c',
    ],
    ...['Proxy-Authenticate: Basic', 'X-Frame-Options: ALLOWALL', 'Strict-Transport-Security: max-age=0', 'Trailer: X'],
    // What browsers, and proxies between us and the client, act upon.
    ...[
      'Accept-CH: Sec-CH-UA-Full-Version',
      'Critical-CH: Sec-CH-UA',
      'Set-Login: logged-in',
      'Refresh: 0; url=https://evil.example/',
    ],
    ...[
      'Use-As-Dictionary: match="/*"',
      'Available-Dictionary: :x:',
      'No-Vary-Search: params',
      'Speculation-Rules: "/x"',
    ],
    ...[
      'X-Accel-Redirect: /etc/passwd',
      'X-Sendfile: /etc/passwd',
      'X-Accel-Expires: 3600',
      'X-Accel-Buffering: yes',
      'X-LIGHTTPD-send-file: /x',
    ],
    ...[
      'Surrogate-Control: max-age=9',
      'CDN-Cache-Control: max-age=9',
      'Link: </x>; rel=preload',
      'Origin-Agent-Cluster: ?1',
      'SourceMap: /x',
    ],
    ...[
      'Cross-Origin-Opener-Policy: unsafe-none',
      'Permissions-Policy: camera=*',
      'Server: nginx',
      'X-Powered-By: PHP',
      'X-Anything: 1',
    ],
  ])('A-29 "%s" does not come back', async (line) => {
    answered(`${line}\r\n`);
    const text = await app.raw(requestOf('GET /api'));
    expect(text).toContain('HTTP/1.1 200');
    expect(text).not.toContain(line);
  });

  test('that its own Connection names do not come back, but the length does', async () => {
    answered('Connection: ETag, Content-Length\r\nETag: "1"\r\nVary: Accept\r\n');
    const answer = await answerTo(requestOf('GET /api'));
    expect([...answer.headers.keys()]).toContain('vary');
    expect([...answer.headers.keys()]).not.toContain('etag');
    expect(answer.headers.get('content-length')).toBe('2');
  });

  test('come back as they are, with ours besides', async () => {
    answered(
      'Cache-Control: no-cache, private\r\nETag: "7"\r\nWarning: 299 - "old"\r\nWarning: 299 - "older"\r\nAudit-Id: 1\r\n',
    );
    const text = await app.raw(requestOf('GET /api'));
    for (const line of [
      'Cache-Control: no-cache, private',
      'ETag: "7"',
      'Warning: 299 - "old"',
      'Warning: 299 - "older"',
      'Audit-Id: 1',
    ])
      expect(text).toContain(`${line}\r\n`);
    expect(text).toContain('X-Content-Type-Options: nosniff\r\n');
  });

  test.each([
    ...['Accept-Ranges: bytes', 'Age: 3', 'Allow: GET', 'Content-Disposition: attachment', 'Content-Language: de'],
    ...[
      'Content-Range: bytes 0-1/2',
      'Date: Thu, 26 Nov 2026 00:00:00 GMT',
      'Expires: 0',
      'Last-Modified: x',
      'Location: /x',
    ],
    ...['Retry-After: 7', 'Vary: Accept', 'X-Kubernetes-Pf-Flowschema-Uid: a', 'X-Kubernetes-Pf-Prioritylevel-Uid: b'],
    ...['X-Accepted-Stream-Protocol-Versions: v5.channel.k8s.io'],
  ])('what clients of the cluster, and pages behind proxy, need comes back: "%s"', async (line) => {
    answered(`${line}\r\n`);
    expect(await app.raw(requestOf('GET /api'))).toContain(`${line}\r\n`);
  });

  test.each([
    ['a bare CR', 'X: a\rSet-Cookie: b\r\n'],
    ['a NUL', 'X: a\0b\r\n'],
    ['a bare LF before a header', 'X: a\nSet-Cookie: b\r\n'],
    ['a control character', 'X: a\x07b\r\n'],
  ])('A-29 with %s are never split, nor sent', async (_, line) => {
    answered(line);
    const text = await app.raw(requestOf('GET /api'));
    expect(text).not.toMatch(/set-cookie/i);
    expect(text).toContain('HTTP/1.1 502');
    expect(text).not.toContain('\x07');
  });
});
