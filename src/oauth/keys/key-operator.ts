import type { Clock } from '../../runtime/clock.ts';
import { toRfc3339 } from '../../runtime/text/rfc3339.ts';
import type { SecretStore } from '../../secret-store.ts';
import { activated, activationDueAt, type KeyRecord, nextKey, published, revoked } from './key-plan.ts';
import { changeKeys, type KeyDecision, newKey, type StoredKey } from './signing-key-data.ts';
import type { SigningKeyOptions } from './signing-keys.ts';

/** The operator named a key that does not exist. */
class UnknownKeyError extends Error {
  constructor(kid: string) {
    super(`there is no signing key "${kid}"; gatehouse keys list names them all`);
    this.name = 'UnknownKeyError';
  }
}

export interface KeyOperatorParts {
  readonly secrets: SecretStore;
  readonly clock: Clock;
  /** Prints a line for the operator, one for each step. */
  print(line: string): void;
}

/** By then every replica's watch has delivered a published key (R-06, docs/promises.md). */
const KNOWN_EVERYWHERE_MS = 5_000;

/**
 * Changes the signing keys for an operator, with the same compare-and-swap as the replicas. A command that was interrupted
 * may be repeated. Every method rejects with a sentence when there are no keys that can be changed, and with the cluster's
 * error when the cluster fails.
 */
export class KeyOperator {
  readonly #options: SigningKeyOptions;
  readonly #parts: KeyOperatorParts;

  constructor(options: SigningKeyOptions, parts: KeyOperatorParts) {
    this.#options = options;
    this.#parts = parts;
  }

  async list(): Promise<void> {
    const { keys } = await this.#change(() => undefined);
    for (const line of keyTable(keys, this.#parts.clock.now())) this.#parts.print(line);
  }

  /** Publishes a next key unless there is one. A replica activates it when it has been published for long enough. */
  async rotate(): Promise<void> {
    const next = await this.#publish();
    this.#parts.print(`a replica makes it the active one at ${toRfc3339(activationDueAt(next))}, or a minute later`);
  }

  /** Activates the next key as soon as every replica has it, so that none of them refuses its tokens. */
  async rotateNow(): Promise<void> {
    const { clock, print } = this.#parts;
    const next = await this.#publish();
    const waitMs = Math.min(KNOWN_EVERYWHERE_MS, next.sinceMs + KNOWN_EVERYWHERE_MS - clock.now());
    if (waitMs > 0) {
      print('waiting until every replica knows it');
      await clock.sleep(waitMs);
    }
    const { keys } = await this.#change((stored) => activated(stored, next.kid, clock.now()));
    print(`the signing key ${activeKid(keys)} signs from now on`);
    if (clock.now() < activationDueAt(next))
      print('a verifier that has cached /oauth/keys from before may refuse its tokens for up to 5 minutes');
  }

  /**
   * Revokes a key. If it was the active key, another one becomes active. Rejects with an `UnknownKeyError` for a key that is not
   * listed.
   */
  async revoke(kid: string): Promise<void> {
    const { clock, print } = this.#parts;
    const { keys, isChanged } = await this.#change((stored) => {
      if (!stored.some((key) => key.kid === kid)) throw new UnknownKeyError(kid);
      return revoked(stored, kid, { nowMs: clock.now(), newKey });
    });
    print(isChanged ? `revoked the signing key ${kid}` : `the signing key ${kid} was revoked before`);
    print('within seconds every replica refuses its tokens');
    print(`the signing key ${activeKid(keys)} signs`);
  }

  async #publish(): Promise<StoredKey> {
    const { clock, print } = this.#parts;
    const { keys, isChanged } = await this.#change((stored) => published(stored, { nowMs: clock.now(), newKey }));
    const next = nextKey(keys) as StoredKey;
    print(
      isChanged
        ? `published the next signing key ${next.kid}`
        : `the next signing key ${next.kid} was published before`,
    );
    return next;
  }

  async #change(decide: KeyDecision): Promise<{ readonly keys: readonly StoredKey[]; readonly isChanged: boolean }> {
    const outcome = await changeKeys(this.#parts.secrets, this.#options.secretName, decide);
    if ('fault' in outcome) throw new Error(outcome.fault);
    return outcome;
  }
}

const activeKid = (keys: readonly StoredKey[]): string | undefined => keys.find((key) => key.state === 'active')?.kid;

/** The widths of the columns: a thumbprint, the longest state and a time. */
const WIDTHS = [43, 11, 20];

/** The keys as lines for a terminal. The lines contain nothing secret. */
function keyTable(keys: readonly KeyRecord[], nowMs: number): string[] {
  const rows = keys.map(({ kid, state, sinceMs }) => [kid, state, toRfc3339(sinceMs), ageText(nowMs - sinceMs)]);
  return [['KID', 'STATE', 'SINCE', 'AGE'], ...rows].map((cells) =>
    cells.map((cell, column) => cell.padEnd(WIDTHS[column] ?? 0)).join('  '),
  );
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
] as const;

/** The age in the largest unit of which there are at least two: `90s`, not `1m`. */
function ageText(ms: number): string {
  const [unitMs, unit] = UNITS.find(([length]) => ms >= 2 * length) ?? [1_000, 's'];
  return `${Math.max(0, Math.floor(ms / unitMs))}${unit}`;
}
