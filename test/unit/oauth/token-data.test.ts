import { describe, expect, test } from 'vitest';
import { DataTooOld, neverProven } from '../../../src/data-age.ts';
import { createTokenData, type TokenDataSource } from '../../../src/oauth/token-data.ts';
import type { StatusError } from '../../../src/status-error.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const LIMIT_MS = 600_000;

/** Sources that count how often they are asked for words. */
function start() {
  const clock = new FakeClock();
  const asked: string[] = [];
  const source = (data: string) => {
    const proof = neverProven();
    const fault = (): string | undefined => {
      asked.push(data);
      return proof.at === Number.NEGATIVE_INFINITY ? `the ${data} are not loaded yet` : undefined;
    };
    return { proof, fault, copies: [{ data, proof, maxAgeMs: LIMIT_MS }] } satisfies TokenDataSource & {
      proof: object;
    };
  };
  const keys = source('keys');
  const users = source('users');
  return { clock, asked, keys, users, data: createTokenData([keys, users], clock) };
}

function refusalOf(check: () => void): StatusError | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return error as StatusError;
  }
}

describe('the data that tokens are judged by', () => {
  test('C-38 is refused while a source is not loaded, and the log names the first such source', () => {
    const { data, keys } = start();
    const words = () => {
      const { message, cause } = refusalOf(data.check) ?? {};
      return [message, (cause as Error).message];
    };
    expect(words()).toEqual(['tokens cannot be verified now', 'the keys are not loaded yet']);
    keys.proof.at = 0;
    expect(words()).toEqual(['tokens cannot be verified now', 'the users are not loaded yet']);
  });

  test('is refused while a source has no proof, even if the source names no fault', () => {
    const unproven = { fault: () => undefined, copies: [{ data: 'keys', proof: neverProven(), maxAgeMs: LIMIT_MS }] };
    const { message, cause } = refusalOf(createTokenData([unproven], new FakeClock()).check) ?? {};
    expect([message, (cause as Error | undefined)?.message]).toEqual([
      'tokens cannot be verified now',
      'a copy of its data has no proof',
    ]);
  });

  test('asks no source while all are proved current', async () => {
    const { clock, asked, data, keys, users } = start();
    keys.proof.at = 0;
    users.proof.at = 0;
    await clock.advance(LIMIT_MS);
    expect([refusalOf(data.check), data.tooOld(), asked]).toEqual([undefined, undefined, []]);
  });

  test('C-38 is refused from the first moment in which a source is too old, by the words for callers', async () => {
    const { clock, data, keys, users } = start();
    keys.proof.at = 0;
    users.proof.at = 0;
    await clock.advance(1);
    keys.proof.at = 1;
    await clock.advance(LIMIT_MS);
    const sentence = 'users are not available: data is older than 10m0s';
    expect([refusalOf(data.check), data.tooOld()]).toEqual([new DataTooOld(sentence), sentence]);
    users.proof.at = clock.monotonic();
    expect(refusalOf(data.check)).toBeUndefined();
  });

  test('a source that is not loaded is refused before one that is too old', async () => {
    const { clock, data, keys } = start();
    keys.proof.at = 0;
    await clock.advance(LIMIT_MS + 1);
    expect(refusalOf(data.check)?.message).toBe('tokens cannot be verified now');
  });
});
