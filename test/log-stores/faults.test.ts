import { expect, test } from 'vitest';
import { atEnd } from '../support/at-end.ts';
import { logRecords } from '../support/logs/log-records.ts';
import { tellMeasured } from '../support/measured.ts';
import { OBSERVED_CONFIG } from '../support/observed/people.ts';
import { type StoreStand, startStoreStand } from './store-stand.ts';

const NODES = `/kapis/resources.${OBSERVED_CONFIG.platform}.io/v1alpha3/nodes`;

async function startStand(): Promise<StoreStand> {
  const stand = await startStoreStand({ name: 'opensearch-2', records: logRecords().slice(0, 1_000) });
  atEnd(() => stand.stop());
  expect((await stand.ask('admin', {})).status).toBe(200);
  return stand;
}

/** The status of a log query, and how long it took. */
async function timed({ begin }: StoreStand): Promise<{ readonly status: number | undefined; readonly ms: number }> {
  const began = performance.now();
  const answer = await (await begin('admin', {})).response;
  answer.resume();
  return { status: answer.statusCode, ms: performance.now() - began };
}

test('a store that is killed is away at once, for queries under way too, and nodes are listed', async () => {
  const stand = await startStand();
  stand.store.freeze();
  const underWay = timed(stand);
  const killed = stand.store.kill();
  const first = await underWay;
  await killed;
  expect(first.status).toBe(503);
  tellMeasured('killed', first.ms, 'for a query that was under way');
  const next = await timed(stand);
  expect(next.status).toBe(503);
  tellMeasured('killed', next.ms, 'until a query was answered 503');
  expect((await stand.get('admin', NODES)).status).toBe(200);
});

test('a store that is frozen is given up after 30 s, nodes are listed meanwhile, and it is found when it goes on', async () => {
  const stand = await startStand();
  const goOn = stand.store.freeze();
  atEnd(goOn); // a frozen process does not end
  const asking = timed(stand);
  expect((await stand.get('admin', NODES)).status).toBe(200);
  const frozen = await asking;
  expect(frozen.status).toBe(504);
  tellMeasured('frozen', frozen.ms, 'until a query was answered 504');
  goOn();
  const back = await timed(stand);
  expect(back.status).toBe(200);
  tellMeasured('frozen', back.ms, 'for the first query when the store went on');
});
