import { describe, expect, test } from 'vitest';
import type { Service } from '../service/stand.ts';
import { startOdd } from './odd-settings.ts';

const guess = async (service: Service, names: readonly string[]): Promise<readonly [number, string | null]> => {
  const statuses: (readonly [number, string | null])[] = [];
  for (const client_id of names) {
    const form = { client_id, client_secret: 'wrong', token: 'x' };
    const { status, headers } = await service.call('/oauth/introspect', { form });
    statuses.push([status, headers.get('retry-after')]);
  }
  expect(statuses.slice(0, -1).every(([status]) => status === 401)).toBe(true);
  return statuses.at(-1)!;
};
const same = (count: number): string[] => Array(count).fill('console');
const others = (count: number): string[] => Array.from({ length: count }, (_, at) => `name-${at}`);

describe('guesses of client secrets', () => {
  test('authentication.clientRateLimiterMaxTries: the fifth of one name is turned away', async () => {
    const { service } = await startOdd();
    expect((await guess(service, same(4)))[0]).toBe(401);
    expect((await guess(service, same(1)))[0]).toBe(429);
  });

  test('authentication.clientAddressRateLimiterMaxTries: the tenth of one address is turned away', async () => {
    const { service } = await startOdd();
    expect((await guess(service, others(9)))[0]).toBe(401);
    expect((await guess(service, ['another']))[0]).toBe(429);
  });

  test('authentication.clientRateLimiterDuration: for so long', async () => {
    const { service, clock } = await startOdd();
    expect(await guess(service, same(5))).toEqual([429, '53']);
    await clock.advance(52_900);
    expect((await guess(service, same(1)))[0]).toBe(429);
    await clock.advance(101);
    expect((await guess(service, same(1)))[0]).toBe(401);
  });
});
