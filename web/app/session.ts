import { effect, signal } from '@preact/signals';
import { call, sessionHasEnded } from '../api/call.ts';
import type { Refusal } from '../api/refusal.ts';
import { isVisible } from '../live/stream-turn.ts';

/** Who is signed in here, and how long the session lasts. */
export interface Person {
  readonly user: string;
  readonly groups: readonly string[];
  /** RFC 3339, as all times here. */
  readonly sessionStarted: string;
  readonly endsAt: string;
  /** The end of the session if nobody looks at the page until then. */
  readonly idleEndsAt: string;
}

const SESSION = '/ui/session';
/** By which a page tells the others of this browser that their session has ended. */
const CHANNEL = 'gatehouse-session';
/** A page that somebody looks at keeps the session alive. Well below the least time after which a session may end for want of visits. */
const RENEW_MS = 60_000;

/** `undefined` until the server has said it. */
export const person = signal<Person | undefined>(undefined);

/** Asks who is signed in, and makes the session last. */
export async function renewSession(): Promise<Refusal | undefined> {
  const outcome = await call<Person>(SESSION, { method: 'POST' });
  if (!outcome.ok) return outcome.refusal;
  // Somebody else has signed in in another tab: nothing of the person before may stay.
  if (person.value && person.value.user !== outcome.value.user) location.reload();
  person.value = outcome.value;
  return undefined;
}

/** Renews the session as long as somebody looks at the page, and whenever somebody comes back to it, until it is closed. */
export function keepSession(): void {
  setInterval(() => {
    if (isVisible.value) void renewSession();
  }, RENEW_MS);
  let wasVisible = isVisible.value;
  effect(() => {
    if (isVisible.value && !wasVisible) void renewSession();
    wasVisible = isVisible.value;
  });
}

/** Leads to the sign-in page, and from there back to where the page is now (W-04). */
export function signIn(): void {
  const here = location.pathname + location.search + location.hash;
  location.replace(`/oauth/sign-in?to=${encodeURIComponent(here)}`);
}

/**
 * Whether the sign-in has just led the browser here. If the server then does not know the person either, another visit there changes nothing,
 * and the two would lead to each other without end.
 */
export function comesFromSignIn(): boolean {
  const [visit] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  return visit?.type === 'navigate' && visit.redirectCount > 0;
}

/** Leads to the sign-in page as soon as the session is over, also when another page of this browser signs out. */
export function signInWhenEnded(): void {
  new BroadcastChannel(CHANNEL).addEventListener('message', () => {
    sessionHasEnded.value = true;
  });
  effect(() => {
    if (sessionHasEnded.value) signIn();
  });
}

/** Ends the session of this browser, or all sessions of the person. Nothing of the person stays in the browser (W-05). */
export async function signOut({ everywhere = false } = {}): Promise<Refusal | undefined> {
  const outcome = await call<undefined>(`${SESSION}${everywhere ? '?all=true' : ''}`, { method: 'DELETE' });
  if (!outcome.ok && outcome.refusal.status !== 401) return outcome.refusal;
  new BroadcastChannel(CHANNEL).postMessage('ended');
  location.replace('/oauth/sign-in?to=%2F');
  return undefined;
}
