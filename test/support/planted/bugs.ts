/** A bug in the source, as a replacement of one text in one file. */
export interface Bug {
  /** The path below src/. */
  readonly file: string;
  /** The replacement, for the text `of`, which is in the file exactly once. */
  readonly instead: string;
  readonly of: string;
}

const writer = (of: string, instead: string): Bug => ({ file: 'kubernetes/reflector/cache-writer.ts', of, instead });
const store = (of: string, instead: string): Bug => ({ file: 'resources/entries/store.ts', of, instead });

/** A bug for each rule that the cache depends on. The name says what the model of the cache must notice. */
export const BUGS: Readonly<Record<string, Bug>> = {
  'order of events: an older event is applied': writer('return removed ? order < 0 : order <= 0;', 'return false;'),
  'order of events: a deleted object comes back with a repeated event': writer(
    'if (!stored) return compareResourceVersions(resourceVersion, this.#resourceVersion) <= 0;',
    'if (!stored) return false;',
  ),
  'order of events: versions are compared as text': {
    file: 'kubernetes/object.ts',
    of: 'if (a.length !== b.length) return a.length - b.length;',
    instead: '',
  },
  'order of events: versions are compared as numbers': {
    file: 'kubernetes/object.ts',
    of: 'if (a.length !== b.length) return a.length - b.length;',
    instead: 'return Number(a) - Number(b);',
  },
  'atomic swap: a streamed list is written as it comes': {
    file: 'kubernetes/reflector/watch-session.ts',
    of: 'if (initial.add(event)) this.#progress?.heard();',
    instead: 'if (initial.add(event)) this.#progress?.heard(); this.#parts.writer.apply(event);',
  },
  'atomic swap: a list in pages is written as it comes': {
    file: 'kubernetes/reflector/paged-list.ts',
    of: 'if (entry) into.push(entry);',
    instead: "if (entry) into.push(entry); writer.apply({ type: 'ADDED', object: item as never });",
  },
  'atomic swap: what a list has no more stays': {
    file: 'resources/entries/list-draft.ts',
    of: 'if (!keys.has(entry.key)) gone.push(entry);',
    instead: '',
  },
  'atomic swap: an answer of before is given again': store('this.#snapshot = undefined;', ''),
  'resume version: the version of an event is not kept': writer('if (forward) this.#resourceVersion = version;', ''),
  'resume version: the version of a bookmark is not kept': writer(
    'return this.#advance(version);\n  }\n\n  #advance',
    'this.proven();\n    return true;\n  }\n\n  #advance',
  ),
  'resume version: a lower bookmark sets it back': writer(
    "if (this.isAheadOf(version)) return this.#drop('stale');",
    'if (this.isAheadOf(version)) this.#resourceVersion = version;',
  ),
  'epoch rule: an older list is taken that is no quorum read': {
    file: 'kubernetes/reflector/reflector.ts',
    of: "if (found.isOlder && step.from === 'last')",
    instead: 'if (found.isOlder && step.waitMs < 0)',
  },
  'epoch rule: a restored server begins no new epoch': writer(
    "if (isSameEpoch) return 'same_epoch';",
    "if (this.#epoch > 0) return 'same_epoch';",
  ),
  'epoch rule: versions of another history are taken for known ones': writer(
    'const sameHistory = isSameEpoch && !isSuspect;',
    'const sameHistory = !isSuspect || true;',
  ),
  'request budget: a relist never waits': {
    file: 'kubernetes/reflector/recovery.ts',
    of: 'waitMs: hasHelped ? 0 : this.#backoff.failed()',
    instead: 'waitMs: 0',
  },
  'request budget: a reset leads to a list': {
    file: 'kubernetes/reflector/recovery.ts',
    of: "case 'expired':",
    instead: "case 'reset': case 'expired':",
  },
  'availability: old data is answered for ever': {
    file: 'resources/cache.ts',
    of: 'tooOldText(resource, this.#ageMs(), this.#maxStalenessMs)',
    instead: 'tooOldText(resource, this.#ageMs(), Number.POSITIVE_INFINITY)',
  },
  'bounded: a watch leaves its listener behind': {
    file: 'kubernetes/reflector/attempt.ts',
    of: 'this.#stopListening();',
    instead: '',
  },
  'no silent stop: attempts are not noted': writer('this.#activeAt = this.#parts.clock.monotonic();', ''),
  'converge: silence is followed by more of it': {
    file: 'kubernetes/reflector/recovery.ts',
    of: "case 'quiet': // the silence was wait enough\n        return { kind: 'watch', waitMs: 0 };",
    instead: "case 'quiet': return { kind: 'watch', waitMs: 400_000 };",
  },
  'converge: a dead stream is waited for': {
    file: 'kubernetes/reflector/attempt.ts',
    of: 'const QUIET_LIMIT_MS = 75_000;',
    instead: 'const QUIET_LIMIT_MS = 290_000;',
  },
  'converge: the self-check looks at names and versions alone': {
    file: 'kubernetes/reflector/self-check.ts',
    of: 'uid}/',
    instead: "''}/",
  },
};
