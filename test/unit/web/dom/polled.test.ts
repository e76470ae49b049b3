import { afterEach, beforeEach, expect, test, vi } from 'vitest';

const SETTINGS = { platform: 'gatehouse', version: '1', features: {} };
const EVERY_MS = 10_000;

/** How often was asked, and the answers that are still to come. */
let asked = 0;
let pending: ((answer: Response) => void)[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  vi.resetModules();
  [asked, pending] = [0, []];
  vi.stubGlobal('fetch', (address: string): Promise<Response> => {
    if (address.endsWith('settings.json')) return Promise.resolve(Response.json(SETTINGS));
    asked++;
    return new Promise((resolve) => pending.push(resolve));
  });
  vi.stubGlobal('document', { visibilityState: 'visible' });
  vi.stubGlobal('BroadcastChannel', class {});
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** Answers every question that waits, and lets what follows from it happen. */
async function answerAll(answer: () => Response): Promise<void> {
  for (const resolve of pending.splice(0)) resolve(answer());
  await vi.advanceTimersByTimeAsync(0);
}

async function polled() {
  const { loadSettings } = await import('../../../../web/app/settings.ts');
  await loadSettings();
  const { Polled } = await import('../../../../web/live/polled.ts');
  return new Polled<{ readonly n: number }>('/answer', EVERY_MS);
}

test('W-13 somebody who asks again while an answer is awaited gets one newer answer, and the pace stays', async () => {
  const one = await polled();
  for (let press = 0; press < 5; press++) one.again();
  expect(asked).toBe(1);
  await answerAll(() => Response.json({ n: 1 }));
  expect(asked).toBe(2);
  await answerAll(() => Response.json({ n: 2 }));
  expect(one.value.value).toEqual({ n: 2 });
  for (let round = 1; round <= 3; round++) {
    await vi.advanceTimersByTimeAsync(EVERY_MS);
    expect(asked).toBe(2 + round);
    await answerAll(() => Response.json({ n: 3 }));
  }
  one.close();
});

test('W-13 who asks again between two questions is answered at once, and the next one comes a pace later', async () => {
  const one = await polled();
  await answerAll(() => Response.json({ n: 1 }));
  await vi.advanceTimersByTimeAsync(EVERY_MS / 2);
  one.again();
  expect(asked).toBe(2);
  await answerAll(() => Response.json({ n: 2 }));
  await vi.advanceTimersByTimeAsync(EVERY_MS - 1);
  expect(asked).toBe(2);
  await vi.advanceTimersByTimeAsync(1);
  expect(asked).toBe(3);
  one.close();
});
