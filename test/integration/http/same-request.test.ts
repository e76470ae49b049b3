import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newTestServer, PASSWORD_FORM, type TestServer } from '../../unit/oauth/test-server.ts';
import { type AppUnderTest, eventually, type LogLine, startApp } from './app-under-test.ts';

/** Lines of the audit trail and of the access log belong together by the id of their request. */

let oauth: TestServer;
let app: AppUnderTest;
beforeAll(async () => {
  oauth = await newTestServer();
  app = await startApp({ authorizationServer: oauth.server });
});
afterAll(() => app.stop());

type Line = Readonly<Record<string, unknown>>;

const signIn = (headers: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<Response> =>
  fetch(`${app.url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams(PASSWORD_FORM),
    headers,
    ...(signal && { signal }),
  });

/** The n-th such line, as soon as it is there. */
async function lineOf(lines: readonly Line[], requestId: string, n = 0): Promise<Line> {
  const found = (): Line[] => lines.filter((line) => line['requestId'] === requestId);
  await eventually(() => found().length > n);
  return found()[n] ?? {};
}

const accessLine = (id: string, n?: number): Promise<Line> => lineOf(app.lines as readonly LogLine[], id, n);
const auditLine = (id: string, n?: number): Promise<Line> => lineOf(oauth.lines, id, n);

describe('the lines of one request', () => {
  test('R-22 name user and client also when the client left before its answer; the sid stands in the audit trail', async () => {
    const begun = Promise.withResolvers<void>();
    const decided = Promise.withResolvers<void>();
    const { signIn: usual } = oauth;
    oauth.signIn = (attempt) => {
      begun.resolve();
      oauth.signIn = usual;
      return decided.promise.then(() => usual(attempt));
    };
    const client = new AbortController();
    const answer = signIn({ 'X-Request-Id': 'left-early' }, client.signal);
    await begun.promise;
    client.abort();
    await expect(answer).rejects.toThrow();
    const access = await accessLine('left-early');
    expect(access).toMatchObject({ status: 499, aborted: true, user: 'alice', clientId: 'console' });
    expect(access).not.toHaveProperty('sid');
    decided.resolve();
    const { ownRequestId } = access;
    const expected = { event: 'sign_in', result: 'ok', user: 'alice', clientId: 'console', ownRequestId };
    expect(await auditLine('left-early')).toMatchObject({ ...expected, sid: expect.any(String) });
  });

  test('A-36 have an id of ours beside the one that a caller gave, so that nobody can pass for another request', async () => {
    await signIn({});
    const { requestId } = oauth.lines.at(-1) ?? {};
    const ours = String(requestId);
    expect(await accessLine(ours)).not.toHaveProperty('ownRequestId');
    await signIn({ 'X-Request-Id': ours });
    await signIn({ 'X-Request-Id': ours });
    const own = [];
    for (const n of [1, 2]) {
      const { ownRequestId } = await accessLine(ours, n);
      expect(ownRequestId).toMatch(/^[0-9a-f]{16}$/);
      expect(await auditLine(ours, n)).toMatchObject({ ownRequestId });
      own.push(ownRequestId);
    }
    expect(new Set([ours, ...own]).size).toBe(3);
    expect(await auditLine(ours)).not.toHaveProperty('ownRequestId');
  });
});
