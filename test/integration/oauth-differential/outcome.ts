import type { Answer } from './http-exchange.ts';

/** What is compared of an answer; each aspect is a set of words. */
export interface Outcome {
  /** Status and `error`, or what introspection says, as one word. */
  readonly answer: readonly string[];
  /** `WWW-Authenticate`, when it is a 401: scheme and `error`. */
  readonly challenge: readonly string[];
  /** `Cache-Control` and `Pragma`. */
  readonly caching: readonly string[];
  /** Media type. */
  readonly type: readonly string[];
  /** Names and types of the members; the words of a scope that was granted. */
  readonly members: readonly string[];
}

type Aspect = keyof Outcome;

const ASPECTS: readonly Aspect[] = ['answer', 'challenge', 'caching', 'type', 'members'];

export function outcomeOf(answer: Answer): Outcome {
  const { status, headers, body = {} } = answer;
  const words = (name: string): string[] => [headers[name] ?? []].flat();
  return {
    answer: [answerOf(answer)],
    challenge: status === 401 ? words('www-authenticate').flatMap(challengeOf) : [],
    caching: [...words('cache-control'), ...words('pragma')],
    type: words('content-type').map((type) => type.split(';', 1).join().trim().toLowerCase()),
    members: Object.entries(body).flatMap(([name, value]) => memberOf(name, value, status === 200)),
  };
}

/** As in `200`, `400 invalid_request`; `200 inactive` when introspection says so (RFC 7662 2.2). */
export const answerOf = ({ status, body }: Answer): string =>
  [status, body?.['error'], body?.['active'] === false && 'inactive'].filter(Boolean).join(' ');

const challengeOf = (header: string): string[] => [
  ...(/^\w+/.exec(header) ?? []),
  ...[/\berror="(\w+)"/.exec(header)?.[1] ?? []].flat(),
];

const memberOf = (name: string, value: unknown, isGrant: boolean): string[] =>
  name === 'scope' && isGrant
    ? String(value)
        .split(' ')
        .map((word) => `scope ${word}`)
    : [`${name}:${typeof value}`];

/** One aspect in which two answers differ: the words that only one of them has. */
export interface Divergence {
  readonly aspect: Aspect;
  readonly gatehouse: string;
  readonly peer: string;
}

/** Once status and error differ, so does everything else: only answers that are alike are compared in full. */
export function divergences(gatehouse: Outcome, peer: Outcome): Divergence[] {
  const aspects = gatehouse.answer[0] === peer.answer[0] ? ASPECTS : (['answer'] as const);
  return aspects
    .map((aspect) => ({
      aspect,
      gatehouse: wordsWithout(gatehouse[aspect], peer[aspect]),
      peer: wordsWithout(peer[aspect], gatehouse[aspect]),
    }))
    .filter(({ gatehouse: ours, peer: theirs }) => ours !== theirs);
}

/** What one has more of than the other, sorted; a word that comes twice counts twice. */
function wordsWithout(words: readonly string[], others: readonly string[]): string {
  const left = [...words];
  for (const other of others) if (left.includes(other)) left.splice(left.indexOf(other), 1);
  return left.sort().join(', ');
}
