import { type LastProof, neverProven } from '../../data-age.ts';
import type { Logger } from '../../observability/logger.ts';
import { Backoff } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import { LastingFailure } from '../../runtime/lasting-failure.ts';
import type { Random } from '../../runtime/random.ts';
import type { SecretStore, StoredSecret } from '../../secret-store.ts';
import type { SecurityEvents } from '../../security-events.ts';
import { type LoadedKeys, loadKeys, reportKeyChanges } from './loaded-keys.ts';
import { newKeyData, readKeyData, type StoredKey } from './signing-key-data.ts';

export interface FollowedKeyParts {
  readonly secrets: SecretStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly events: SecurityEvents;
}

/** Follows the Secret of the keys: it loads each change, and creates the Secret if there is none before the first load. */
export class FollowedKeys {
  readonly #secret: string;
  readonly #parts: FollowedKeyParts;
  readonly #log: Logger;
  readonly #loaded = neverProven();
  #current: LoadedKeys | undefined;
  #stored: readonly StoredKey[] | undefined;
  #reason = 'the signing keys are not loaded yet';

  constructor(secret: string, parts: FollowedKeyParts) {
    this.#secret = secret;
    this.#parts = parts;
    this.#log = parts.logger.child({ secret });
  }

  /** The last valid keys; `undefined` before the first load. */
  get current(): LoadedKeys | undefined {
    return this.#current;
  }

  /** The keys in the Secret as it is now; `undefined` while it is gone, broken or not yet read. */
  get stored(): readonly StoredKey[] | undefined {
    return this.#stored;
  }

  /** Why no keys are loaded yet. */
  get reason(): string {
    return this.#reason;
  }

  /** When valid keys were last loaded. */
  get loaded(): LastProof {
    return this.#loaded;
  }

  /** Follows the Secret until the signal aborts. Only a bug makes it throw. */
  async run(signal: AbortSignal): Promise<void> {
    // Changes are loaded one after the other, in their order: loading is asynchronous, and the latest state must win.
    let turn = Promise.resolve();
    const broken = Promise.withResolvers<never>();
    const onChange = (found: StoredSecret | undefined): void => {
      turn = turn.then(() => this.#follow(found, signal)).catch(broken.reject);
    };
    await Promise.race([this.#parts.secrets.watch(this.#secret, onChange, signal), broken.promise]);
    await turn;
  }

  async #follow(found: StoredSecret | undefined, signal: AbortSignal): Promise<void> {
    if (found) return this.#load(found);
    this.#stored = undefined;
    if (!this.#current) return this.#create(signal);
    const kids = this.#current.keys.map(({ kid }) => kid);
    this.#parts.events.report('signing_keys_missing', { secret: this.#secret, kids });
  }

  async #load({ data }: StoredSecret): Promise<void> {
    const { clock, events } = this.#parts;
    const keySet = await readKeyData(data);
    const before = this.#current;
    if ('fault' in keySet) {
      const { fault } = keySet;
      this.#stored = undefined;
      this.#reason = `the signing keys cannot be used: ${fault}`;
      const lastGoodInUse = before !== undefined;
      events.report('signing_keys_unusable', { secret: this.#secret, fault, lastGoodInUse });
      return;
    }
    const next = loadKeys(keySet, before);
    if (before) reportKeyChanges(before, next, events);
    this.#current = next;
    this.#loaded.at = clock.monotonic();
    this.#stored = keySet.keys;
  }

  async #create(signal: AbortSignal): Promise<void> {
    const { secrets, clock, random, events } = this.#parts;
    const secret = this.#secret;
    const data = await newKeyData(clock.now(), random);
    const backoff = new Backoff(clock, random);
    const failure = new LastingFailure(clock, this.#log);
    while (!signal.aborted) {
      try {
        // `exists`: another replica has made the keys, and the watch will deliver them.
        const made = await secrets.create(secret, data);
        if (made === 'exists') return;
        await this.#load(made);
        events.report('signing_key_created', { secret, kid: this.#current?.active });
        return;
      } catch (error) {
        failure.failed({ err: error }, 'cannot create the signing keys yet');
        await clock.sleep(backoff.failed(), signal);
      }
    }
  }
}
