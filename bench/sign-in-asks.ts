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

/** Of a name that exists, or of one that does not. */
export interface ToldApartAsk {
  readonly ask: Ask;
  readonly isUnknown: boolean;
}

/** `pairs` times a known and an unknown name, each with the wrong password. */
export const toldApartAsks = (pairs: number, password: string): readonly ToldApartAsk[] =>
  inTurns(pairs, (index) => ({
    known: signInAsk(BENCH_USERS[index % BENCH_USERS.length] ?? '', wrong(password)),
    unknown: signInAsk(unknownName(index), wrong(password)),
  }));

/**
 * `pairs` times a known and an unknown client, each with a wrong secret. Each comes from a new address, through a trusted proxy:
 * what failed before would otherwise be looked up for the one that exists, and made anew for the other.
 */
export const clientsToldApartAsks = (pairs: number): readonly ToldApartAsk[] =>
  inTurns(pairs, (index) => ({
    known: introspectAsk(BENCH_CLIENT.client_id, 2 * index),
    unknown: introspectAsk(unknownName(index).slice(-BENCH_CLIENT.client_id.length), 2 * index + 1),
  }));

const introspectAsk = (client_id: string, from: number): Ask => ({
  method: 'POST',
  path: '/oauth/introspect',
  headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': `2001:db8:0:${hex(from)}::1` },
  body: new URLSearchParams({ client_id, client_secret: wrong(BENCH_CLIENT.client_secret), token: 'x' }).toString(),
});

/** The order within a pair alternates: what the first request of two leaves behind falls on both kinds alike. */
function inTurns(
  pairs: number,
  pair: (index: number) => { readonly known: Ask; readonly unknown: Ask },
): ToldApartAsk[] {
  return Array.from({ length: pairs }, (_, index) => {
    const asks = pair(index);
    const known = { ask: asks.known, isUnknown: false };
    const unknown = { ask: asks.unknown, isUnknown: true };
    return index % 2 === 0 ? [known, unknown] : [unknown, known];
  }).flat();
}
