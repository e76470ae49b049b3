import { setTimeout as sleep } from 'node:timers/promises';

const ATTEMPTS = 2_400;

/** Waits until `read` answers as expected, because a change takes a moment to arrive. Answers that value. */
export async function eventually<T>(read: () => Promise<T>, isSo: (value: T) => boolean): Promise<T> {
  let value = await read();
  for (let attempt = 0; attempt < ATTEMPTS && !isSo(value); attempt++) {
    await sleep(50);
    value = await read();
  }
  if (!isSo(value)) throw new Error(`not so after 2 minutes: ${JSON.stringify(value).slice(0, 2000)}`);
  return value;
}
