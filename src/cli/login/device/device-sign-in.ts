import type { Clock } from '../../../runtime/clock.ts';
import { LoginError, NoAnswerError } from '../login-error.ts';
import type { ServerCalls } from '../server/server-calls.ts';
import { readMetadata } from '../server/server-metadata.ts';
import type { DeviceError, TokenClient } from '../server/token-client.ts';
import type { SavedSession } from '../session.ts';
import { type Interruptible, untilInterrupted } from '../until-interrupted.ts';
import type { DeviceStart } from './device-start.ts';

/** What `slow_down` adds to the interval (RFC 8628 3.5). */
const SLOWER_SECONDS = 5;

export interface DeviceSignInParts extends Interruptible {
  readonly calls: Pick<ServerCalls, 'call'>;
  readonly tokens: Pick<TokenClient, 'startDevice' | 'pollDevice'>;
  readonly clock: Clock;
  readonly server: string;
  complain(line: string): void;
}

/**
 * Signs a person in who types a code into the browser of another device (RFC 8628). Throws a `LoginError` if the sign-in is refused or
 * interrupted, or the code ends.
 */
export async function signInByDevice(parts: DeviceSignInParts): Promise<SavedSession> {
  const { calls, tokens, server, complain } = parts;
  const metadata = await readMetadata(calls);
  if (!metadata?.hasDeviceSignIn) throw new LoginError(`${server} has no sign-in by device`);
  const start = await tokens.startDevice();
  const stop = new AbortController();
  const signedIn = untilInterrupted(poll(start, parts, stop.signal), parts); // from the first line on, Ctrl-C ends it in order
  complain(invitation(start));
  try {
    return await signedIn;
  } finally {
    stop.abort();
  }
}

function invitation({ address, wholeAddress, userCode, lifetimeSeconds }: DeviceStart): string {
  const whole = wholeAddress === undefined ? '' : `, or open ${wholeAddress}`;
  const minutes = Math.ceil(lifetimeSeconds / 60);
  return `open ${address} in a browser, on any device, and enter the code ${userCode}${whole}; it is valid for ${minutes} min`;
}

async function poll(
  { deviceCode, lifetimeSeconds, intervalSeconds }: DeviceStart,
  { clock, tokens, server }: DeviceSignInParts,
  signal: AbortSignal,
): Promise<SavedSession> {
  const end = clock.monotonic() + lifetimeSeconds * 1000;
  for (let seconds = intervalSeconds; ; ) {
    await clock.sleep(seconds * 1000, signal);
    if (signal.aborted || clock.monotonic() > end) throw failure('expired_token', server);
    // An answer that was lost counts as a server that is overloaded (RFC 8628 3.5).
    const polled = await tokens.pollDevice(deviceCode).catch((error: unknown) => {
      if (error instanceof NoAnswerError) return { error: 'slow_down' as const };
      throw error;
    });
    if (!('error' in polled)) return polled;
    if (polled.error === 'slow_down') seconds += SLOWER_SECONDS;
    else if (polled.error !== 'authorization_pending') throw failure(polled.error, server);
  }
}

const failure = (error: Extract<DeviceError, 'access_denied' | 'expired_token'>, server: string): LoginError =>
  new LoginError(
    error === 'access_denied'
      ? `the sign-in at ${server} was refused`
      : `nobody has entered the code at ${server} in time: sign in again`,
  );
