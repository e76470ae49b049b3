import { mayPass, type Refusal } from '../api/refusal.ts';
import { BackOff } from './back-off.ts';
import { pause } from './pause.ts';

/** Asks until there is an answer, or a refusal that no waiting changes, or the signal aborts. What is asked for once is then there in the end. */
export async function untilAnswered(ask: () => Promise<Refusal | undefined>, signal: AbortSignal): Promise<void> {
  const backOff = new BackOff();
  while (!signal.aborted) {
    const refusal = await ask();
    if (refusal === undefined || !mayPass(refusal)) return;
    await pause(backOff.failed(refusal.retryAfterSeconds), signal);
  }
}
