import type { Ask } from './load/connection.ts';

export const TOKEN_PATH = '/oauth/token';

/** The client that Gatehouse has by default. */
export const BENCH_CLIENT = { client_id: 'gatehouse', client_secret: 'gatehouse' };

/** Enough for ten minutes of sign-ins: a user has 256 refreshed sessions at most, of which the idlest ends. */
export const BENCH_USERS: readonly string[] = Array.from({ length: 16 }, (_, index) => `bench-${hex(index)}`);

/** As long as a user's, so that only the answer can tell them apart. */
const unknownName = (index: number): string => `noone-${hex(index)}`;

function hex(index: number): string {
  return index.toString(16).padStart(4, '0');
}

/** A token request with these parameters. */
export function tokenAsk(parameters: Readonly<Record<string, string>>): Ask {
  return {
    method: 'POST',
    path: TOKEN_PATH,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ ...BENCH_CLIENT, ...parameters }).toString(),
  };
}

const signInAsk = (username: string, password: string): Ask => tokenAsk({ grant_type: 'password', username, password });

/** As long as the right one. */
const wrong = (password: string): string => 'x'.repeat(password.length);

/** One of each user. */
export const rightAsks = (password: string): Ask[] => BENCH_USERS.map((name) => signInAsk(name, password));

/** In turn: a wrong password, a name that nobody has, a right password. */
export const floodAsks = (password: string): Ask[] =>
  BENCH_USERS.flatMap((name, index) => [
    signInAsk(name, wrong(password)),
    signInAsk(unknownName(index), password),
    signInAsk(name, password),
  ]);

/**
 * `pairs` times a known and an unknown name, each with the wrong password; `isUnknown` says which is which. The order
 * within a pair alternates: what the first request of two leaves behind falls on both kinds alike.
 */
export function toldApartAsks(pairs: number, password: string): readonly { ask: Ask; isUnknown: boolean }[] {
  return Array.from({ length: pairs }, (_, index) => {
    const name = BENCH_USERS[index % BENCH_USERS.length] ?? '';
    const known = { ask: signInAsk(name, wrong(password)), isUnknown: false };
    const unknown = { ask: signInAsk(unknownName(index), wrong(password)), isUnknown: true };
    return index % 2 === 0 ? [known, unknown] : [unknown, known];
  }).flat();
}
