import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Canned, type CannedStore, foundBody, hit, startCannedStore } from '../../support/logs/canned-store.ts';
import { tellMeasured } from '../../support/measured.ts';
import { selfSigned } from '../../support/self-signed.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { type LogsUnderTest, startDrivenLogs, startOwnLogs, startOwnStore } from './logs-under-test.ts';

const found = (): Canned => ({ body: foundBody([hit(1)], 1) });
const silent = (): Canned => undefined;

const full = { type: 'cluster_block_exception', reason: 'index [k] blocked by: [TOO_MANY_REQUESTS/12/disk usage]' };

/** The status of a query, and how long it took. */
async function timed({ ask }: LogsUnderTest): Promise<{ readonly status: number; readonly ms: number }> {
  const began = performance.now();
  const { status } = await ask();
  return { status, ms: performance.now() - began };
}

/** While the store is at fault: the refusal, and nodes as ever. */
async function expectRefused(logs: LogsUnderTest, fault: string, status = 503): Promise<void> {
  const refused = await timed(logs);
  expect([fault, refused.status]).toEqual([fault, status]);
  tellMeasured(fault, refused.ms, `until a query was answered ${status}`);
  expect((await logs.service.list(logs.token)).status).toBe(200);
}

async function expectFound(logs: LogsUnderTest, fault: string): Promise<void> {
  const back = await timed(logs);
  expect([fault, back.status]).toEqual([fault, 200]);
  tellMeasured(fault, back.ms, 'for the first query when the store was back');
}

describe('a log store', () => {
  test('that is killed refuses queries at once, those under way too, and is found when it is back', async () => {
    const store = await startCannedStore(found);
    const logs = await startOwnLogs({ logging: { host: store.url } });
    await expectFound(logs, 'killed');
    store.answer = silent;
    const underWay = timed(logs);
    await expect.poll(() => store.open()).toBe(1);
    await store.stop();
    const { status, ms } = await underWay;
    expect(status).toBe(503);
    tellMeasured('killed', ms, 'for a query that was under way');
    await expectRefused(logs, 'killed');
    await startOwnStore(found, { port: store.port });
    await expectFound(logs, 'killed');
  });

  test('that is frozen is given up after 30 s, and found when it goes on', async () => {
    const store = await startOwnStore(silent);
    const logs = await startDrivenLogs({ logging: { host: store.url } });
    const began = logs.clock.monotonic();
    const asking = logs.ask();
    await expect.poll(() => store.open()).toBe(1);
    expect((await logs.clock.during(asking, 500)).status).toBe(504);
    tellMeasured('frozen', logs.clock.monotonic() - began, 'until a query was answered 504 (test clock)');
    store.answer = found;
    await expectFound(logs, 'frozen');
  });

  test.each<[string, CannedStore['answer']]>([
    ['a full disk', () => ({ status: 429, body: { error: { root_cause: [full], ...full } } })],
    [
      'answers cut in the middle',
      ({ response }) => {
        response.writeHead(200, { 'content-length': 100_000 });
        response.write('{"took":1,"hits":{', () => response.destroy());
        return undefined;
      },
    ],
  ])('with %s refuses queries at once, and is found when it is well', async (fault, answer) => {
    const store = await startOwnStore(answer);
    const logs = await startOwnLogs({ logging: { host: store.url } });
    await expectRefused(logs, fault);
    store.answer = found;
    await expectFound(logs, fault);
  });

  test('with the wrong certificate refuses queries at once, and is found with the right CA', async () => {
    const [right, wrong] = [selfSigned('logs.example'), selfSigned('others.example')];
    const store = await startOwnStore(found, { tls: right });
    const caFile = join(temporaryFolder().folder, 'ca.pem');
    writeFileSync(caFile, wrong.cert);
    const logs = await startOwnLogs({ logging: { host: store.url, caFile } });
    await expectRefused(logs, 'the wrong certificate');
    writeFileSync(caFile, right.cert);
    const began = performance.now();
    await expect.poll(async () => (await timed(logs)).status).toBe(200);
    tellMeasured(
      'the wrong certificate',
      performance.now() - began,
      'from the change of the CA file to the first answer',
    );
  });
});
