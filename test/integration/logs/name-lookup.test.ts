import { lookup } from 'node:dns';
import { expect, test, vi } from 'vitest';
import { foundBody } from '../../support/logs/canned-store.ts';
import { tellMeasured } from '../../support/measured.ts';
import { startOwnLogs, startOwnStore } from './logs-under-test.ts';

vi.mock('node:dns', async (original) => ({ ...(await original<typeof import('node:dns')>()), lookup: vi.fn() }));

type Answer = (
  error: Error | null,
  addresses: readonly { readonly address: string; readonly family: number }[],
) => void;

/** What a look-up comes to. `undefined`: nothing, until it is answered. */
let answer: ((done: Answer) => void) | undefined;
const waiting: Answer[] = [];
vi.mocked(lookup).mockImplementation(((_name: string, _options: object, done: Answer) => {
  if (answer) answer(done);
  else waiting.push(done);
}) as never);

const failing = (code: string) => (done: Answer) => done(Object.assign(new Error(`getaddrinfo ${code}`), { code }), []);
const LOOPBACK = [{ address: '127.0.0.1', family: 4 }];
const LIMITS = { maxLogQueries: 64, maxLogQueriesPerUser: 64 };

test.each(['ENOTFOUND', 'EAI_AGAIN'])(
  'C-32 a name that DNS does not know (%s) is 503, and found when it does',
  async (code) => {
    const store = await startOwnStore(() => ({ body: foundBody([], 3) }));
    const { ask, service, token } = await startOwnLogs({ logging: { host: `http://logs.test:${store.port}` } });
    answer = failing(code);
    const { status, headers, text } = await ask();
    expect([status, headers.get('retry-after'), text.includes('logs.test')]).toEqual([503, '5', false]);
    expect([await service.readiness(), (await service.list(token)).status]).toEqual([200, 200]);
    answer = (done) => done(null, LOOPBACK);
    expect((await ask()).body.query.total).toBe(3);
    answer = failing(code);
    expect((await ask()).body.query.total).toBe(3);
  },
);

test('C-32 while DNS hangs, 64 queries wait with one look-up, and nodes and sign-ins are answered', async () => {
  const store = await startOwnStore(() => ({ body: foundBody([], 3) }));
  const logging = { host: `http://hangs.test:${store.port}` };
  const { ask, service, token } = await startOwnLogs({ logging, config: { limits: LIMITS } });
  answer = undefined;
  vi.mocked(lookup).mockClear();
  const asking = Array.from({ length: 64 }, () => ask());
  await expect.poll(() => service.metric('gatehouse_log_queries_in_flight')).toBe(64);
  const began = performance.now();
  expect((await service.list(token)).status).toBe(200);
  tellMeasured('C-32', performance.now() - began, 'for a list of nodes, while DNS hangs for 64 log queries');
  expect((await service.signIn('ada')).expires_in).toBeGreaterThan(0);
  expect(lookup).toHaveBeenCalledTimes(1);
  for (const done of waiting.splice(0)) done(null, LOOPBACK);
  expect((await Promise.all(asking)).map(({ status }) => status)).toEqual(Array(64).fill(200));
});
