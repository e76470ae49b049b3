import type { lookup } from 'node:dns';
import { describe, expect, test } from 'vitest';
import { createLookup } from '../../../src/stores/addresses.ts';
import { FakeClock } from '../../support/fake-clock.ts';

type Done = (error: NodeJS.ErrnoException | null, addresses: { address: string; family: number }[]) => void;

const A = { address: '10.0.0.1', family: 4 };
const B = { address: 'fd00::2', family: 6 };

/** Look-ups that a test answers. */
function startLookups() {
  const open: { readonly name: string; readonly done: Done }[] = [];
  const clock = new FakeClock();
  const resolve = ((name: string, _: object, done: Done) => void open.push({ name, done })) as unknown as typeof lookup;
  const look = createLookup(clock, resolve);
  const find = (name: string, all = true): Promise<unknown> =>
    new Promise((settle, reject) =>
      look(name, { all }, (error, address, family) =>
        error ? reject(error) : settle(all ? address : [address, family]),
      ),
    );
  const failure = Object.assign(new Error('getaddrinfo EAI_AGAIN'), { code: 'EAI_AGAIN' });
  return { open, clock, find, failure };
}

describe('the addresses of a store', () => {
  test('C-32 are looked up once at a time, however many ask', async () => {
    const { open, find } = startLookups();
    const asking = Array.from({ length: 64 }, () => find('logs'));
    expect(open.map(({ name }) => name)).toEqual(['logs']);
    open[0]?.done(null, [A, B]);
    expect(await Promise.all(asking)).toEqual(Array(64).fill([A, B]));
  });

  test('are the first one for whoever wants one', async () => {
    const { open, find } = startLookups();
    const asking = find('logs', false);
    open[0]?.done(null, [B, A]);
    expect(await asking).toEqual([B.address, B.family]);
  });

  test('are remembered for 30 s', async () => {
    const { open, clock, find } = startLookups();
    const first = find('logs');
    open[0]?.done(null, [A]);
    await first;
    await clock.advance(29_999);
    expect(await find('logs')).toEqual([A]);
    expect(open.length).toBe(1);
    await clock.advance(1);
    const second = find('logs');
    open[1]?.done(null, [B]);
    expect(await second).toEqual([B]);
  });

  test('C-32 are the last ones while look-ups fail', async () => {
    const { open, clock, find, failure } = startLookups();
    const first = find('logs');
    open[0]?.done(null, [A]);
    await first;
    for (let at = 1; at <= 3; at++) {
      await clock.advance(60_000);
      const again = find('logs');
      open[at]?.done(failure, []);
      expect(await again).toEqual([A]);
    }
    await clock.advance(60_000);
    const back = find('logs');
    open[4]?.done(null, [B]);
    expect(await back).toEqual([B]);
  });

  test('C-32 are none while the first look-ups fail, each of which is tried', async () => {
    const { open, find, failure } = startLookups();
    for (let at = 0; at < 2; at++) {
      const asking = find('logs');
      open[at]?.done(failure, []);
      await expect(asking).rejects.toBe(failure);
    }
    const asking = find('logs');
    open[2]?.done(null, [A]);
    expect(await asking).toEqual([A]);
  });

  test('are an error where the answer has none', async () => {
    const { open, find } = startLookups();
    const asking = find('logs', false);
    open[0]?.done(null, []);
    await expect(asking).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  test('of one name do not wait for those of another', async () => {
    const { open, find } = startLookups();
    const [, other] = [find('hangs').catch(() => {}), find('logs')];
    open[1]?.done(null, [A]);
    expect(await other).toEqual([A]);
  });
});
