import type { Logger } from '../observability/logger.ts';
import { unlessAborted } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';
import { LastingFailure } from '../runtime/lasting-failure.ts';
import type { Random } from '../runtime/random.ts';
import type { SecretStore, StoredSecret } from '../secret-store.ts';
import { decodeQuestions, encodeQuestions, type SharedText } from './question-text.ts';
import { RECENT_MS, type RecentQuestion, type RecentQuestions } from './recent-questions.ts';

export interface QuestionSharingParts {
  readonly recent: Pick<RecentQuestions, 'hasNews' | 'toShare' | 'markShared' | 'learn'>;
  readonly secrets: Pick<SecretStore, 'watch' | 'create' | 'update'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** The shortest time between two writes of a replica. A caller's first question is known to all within about 20 s. */
const WRITTEN_EVERY_MS = 15_000;
/** Up to this much is added at random, so that replicas that started together do not keep writing together. */
const JITTER_MS = 5_000;
/** If two replicas write at the same moment, one gets a conflict and writes again, based on the other's record. */
const TRIES = 3;
const TRY_AGAIN_MS = 500;
/** Twelve replicas of 64 KiB each fit into a Secret, which may have 1 MiB. */
const MOST_REPLICAS = 12;
/** A replica in use writes every five minutes. One that has not written for so long makes room for a thirteenth. */
const GIVES_WAY_AFTER_MS = 300_000;
/** How far the clock of a replica may be ahead of ours. Its questions stay recent for longer by the same time. */
const MOST_AHEAD_MS = 60_000;
/** If the clock of a replica is further behind than this, all its questions are too old to count when they arrive. */
const MOST_BEHIND_MS = RECENT_MS;

/** What one replica has written in its data key, until it changes. */
interface Contribution {
  readonly bytes: Buffer;
  /** When we first saw it. */
  readonly since: number;
  /** When it was written, as far as we know. It may be older than `since`, because we see old texts when we start. */
  writtenAt: number;
}

/**
 * Shares the recent questions with the other replicas through one Secret, in which each replica has a data key of its
 * own. It holds questions and no answers: anybody who can write it can make us ask the cluster, and nothing else. We ignore
 * a text that we cannot decode. Nothing depends on the Secret: if we cannot read or write it, we only log that.
 */
export class QuestionSharing {
  readonly #secretName: string;
  readonly #parts: QuestionSharingParts;
  /** Our data key, a new one for each process. Other replicas remove the key of an ended process when it is old. */
  readonly #ownKey: string;
  readonly #failure: LastingFailure;
  readonly #unreadable: FailingKeys;
  readonly #wrongClocks: FailingKeys;
  /** What the others have written, by data key. */
  readonly #contributions = new Map<string, Contribution>();
  /** The Secret as we last saw it. Absent until the watch has shown whether it exists. */
  #seen: { readonly secret: StoredSecret | undefined } | undefined;
  /**
   * When we last wrote questions under our key; -Infinity if there are none. Ten minutes later they are too old to count, and
   * any replica may remove the key.
   */
  #sharedAt = Number.NEGATIVE_INFINITY;

  constructor(secretName: string, parts: QuestionSharingParts) {
    this.#secretName = secretName;
    this.#parts = parts;
    this.#ownKey = parts.random.bytes(8).toString('hex');
    this.#failure = new LastingFailure(parts.clock, parts.logger);
    this.#unreadable = new FailingKeys(this.#secretName, 'what the replicas share is understood again', parts);
    this.#wrongClocks = new FailingKeys(this.#secretName, 'the clocks of the replicas agree again', parts);
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#parts.secrets.watch(this.#secretName, this.#changed, signal), this.#share(signal)]);
  }

  async #share(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#parts;
    while (!signal.aborted) {
      await clock.sleep(WRITTEN_EVERY_MS + JITTER_MS * random.fraction(), signal);
      for (let tries = 0; tries < TRIES && !signal.aborted && this.#hasToWrite(); tries++) {
        if (tries > 0) await clock.sleep(TRY_AGAIN_MS * (1 + random.fraction()), signal);
        // The end of the process does not wait for the cluster.
        if (await unlessAborted(this.#write(signal), signal).catch(() => true)) break;
      }
    }
  }

  /**
   * Whether there is news, or somebody has removed what we shared, or we must remove old keys: names of people should not
   * stay in the Secret.
   */
  #hasToWrite(): boolean {
    if (!this.#seen) return false;
    const { recent } = this.#parts;
    const isShared = this.#seen.secret?.data[this.#ownKey] !== undefined;
    const hasQuestions = recent.toShare().length > 0;
    const hasShared = this.#parts.clock.monotonic() - this.#sharedAt < RECENT_MS;
    const isToChange = isShared ? !hasQuestions : hasShared && hasQuestions;
    return isToChange || recent.hasNews() || this.#oldKeys().length > 0;
  }

  /** Returns false if somebody else has written meanwhile. Then the caller tries again. */
  async #write(signal: AbortSignal): Promise<boolean> {
    // Takes data and version from one state. If another state comes while we wait, the write must end in a conflict.
    const secret = this.#seen?.secret;
    const others = { ...secret?.data };
    for (const key of [this.#ownKey, ...this.#oldKeys()]) delete others[key];
    const questions = this.#parts.recent.toShare();
    if (questions.length > 0) for (const key of this.#giveWay(Object.keys(others))) delete others[key];
    if (questions.length > 0 && Object.keys(others).length >= MOST_REPLICAS) {
      this.#failed('too many replicas', new Error(`${MOST_REPLICAS} replicas share their questions already`));
      return true;
    }
    const { bytes, count } = await this.#encoded(questions);
    const data = count > 0 ? { ...others, [this.#ownKey]: bytes } : others;
    try {
      const written = await this.#store(secret, data);
      if (typeof written === 'string') return false;
      this.#seen = { secret: written };
      this.#sharedAt = count > 0 ? this.#parts.clock.monotonic() : Number.NEGATIVE_INFINITY;
      this.#parts.recent.markShared(questions.slice(0, count), questions.slice(count));
      this.#failure.over({ secret: this.#secretName }, 'recent questions are shared again');
    } catch (error) {
      if (!signal.aborted) this.#failed('', error);
    }
    return true;
  }

  /** `count`: how many of the questions are in the bytes, beginning with the first. */
  #encoded(recent: readonly RecentQuestion[]): Promise<{ bytes: Buffer; count: number }> {
    const { clock } = this.#parts;
    const now = clock.monotonic();
    const questions = recent.map((question) => ({ ...question, ageMs: now - question.askedAt }));
    return encodeQuestions({ writtenAtMs: clock.now(), questions });
  }

  #store(secret: StoredSecret | undefined, data: StoredSecret['data']): Promise<StoredSecret | 'exists' | 'conflict'> {
    const { secrets } = this.#parts;
    if (!secret) return secrets.create(this.#secretName, data);
    return secrets.update(this.#secretName, data, secret.version);
  }

  #failed(way: string, error: unknown): void {
    this.#failure.failed({ err: error, secret: this.#secretName }, 'recent questions cannot be shared', way);
  }

  /** The keys of replicas that have written nothing for so long that all their questions are too old to count. */
  #oldKeys(): string[] {
    const now = this.#parts.clock.monotonic();
    return [...this.#contributions].filter(([, { since }]) => now - since >= RECENT_MS).map(([key]) => key);
  }

  /** The keys that make room for ours: those that have not changed for longest. */
  #giveWay(keys: readonly string[]): string[] {
    const now = this.#parts.clock.monotonic();
    return keys
      .map((key) => ({ key, ageMs: now - (this.#contributions.get(key)?.writtenAt ?? now) }))
      .filter(({ ageMs }) => ageMs >= GIVES_WAY_AFTER_MS)
      .sort((a, b) => b.ageMs - a.ageMs)
      .slice(0, Math.max(0, keys.length - (MOST_REPLICAS - 1)))
      .map(({ key }) => key);
  }

  readonly #changed = (secret: StoredSecret | undefined): void => {
    this.#seen = { secret };
    const data = secret?.data ?? {};
    for (const key of this.#contributions.keys()) if (!Object.hasOwn(data, key)) this.#gone(key);
    const others = Object.entries(data).filter(([key]) => key !== this.#ownKey);
    for (const [key, bytes] of others.slice(0, MOST_REPLICAS)) {
      const before = this.#contributions.get(key);
      if (before?.bytes.equals(bytes)) continue;
      const now = this.#parts.clock.monotonic();
      const contribution = { bytes, since: now, writtenAt: now };
      this.#contributions.set(key, contribution);
      void this.#read(key, contribution, before !== undefined);
    }
  };

  #gone(key: string): void {
    this.#contributions.delete(key);
    this.#unreadable.over(key);
    this.#wrongClocks.over(key);
  }

  /** Clocks of replicas may differ by seconds: a text from a clock that is ahead counts as just written. */
  async #read(key: string, contribution: Contribution, isChange: boolean): Promise<void> {
    const { recent, clock } = this.#parts;
    const text = await decodeQuestions(contribution.bytes);
    // If the key is gone or has changed meanwhile, nothing is logged about this text.
    if (this.#contributions.get(key) === contribution) this.#judge(key, contribution, text, isChange);
    if (!text) return;
    const writtenAt = clock.monotonic() - Math.max(0, clock.now() - text.writtenAtMs);
    contribution.writtenAt = Math.min(contribution.writtenAt, writtenAt);
    recent.learn(text.questions.map(({ ageMs, ...question }) => ({ ...question, askedAt: writtenAt - ageMs })));
  }

  #judge(key: string, { bytes }: Contribution, text: SharedText | undefined, isChange: boolean): void {
    if (text) {
      this.#unreadable.over(key);
      this.#compareClocks(key, text.writtenAtMs, isChange);
    } else {
      const message = 'what a replica shares is not understood, and ignored';
      this.#unreadable.failed(key, { bytes: bytes.length }, message);
    }
  }

  /** Only a text that we saw change is certainly new. So only there does an old time show a clock that is behind. */
  #compareClocks(key: string, writtenAtMs: number, isChange: boolean): void {
    const aheadMs = writtenAtMs - this.#parts.clock.now();
    if (aheadMs > MOST_AHEAD_MS || (isChange && aheadMs < -MOST_BEHIND_MS)) {
      const message = 'the clock of a replica is wrong: what it shares is taken for younger or older than it is';
      this.#wrongClocks.failed(key, { aheadSeconds: Math.round(aheadMs / 1000) }, message);
    } else this.#wrongClocks.over(key);
  }
}

/** Logs one kind of fault of data keys: while at least one key has it, and once when no key has it any more. */
class FailingKeys {
  readonly #secretName: string;
  readonly #endMessage: string;
  readonly #failure: LastingFailure;
  readonly #keys = new Set<string>();

  constructor(
    secretName: string,
    endMessage: string,
    { clock, logger }: Pick<QuestionSharingParts, 'clock' | 'logger'>,
  ) {
    this.#secretName = secretName;
    this.#endMessage = endMessage;
    this.#failure = new LastingFailure(clock, logger);
  }

  failed(key: string, members: object, message: string): void {
    this.#keys.add(key);
    this.#failure.failed({ secret: this.#secretName, key, ...members }, message);
  }

  over(key: string): void {
    if (this.#keys.delete(key) && this.#keys.size === 0)
      this.#failure.over({ secret: this.#secretName }, this.#endMessage);
  }
}
