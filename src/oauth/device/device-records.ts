import { createHmac } from 'node:crypto';
import type { Logger } from '../../observability/logger.ts';
import { onAbort } from '../../runtime/abort.ts';
import { BoundedMap } from '../../runtime/bounded-map.ts';
import type { Clock } from '../../runtime/clock.ts';
import { derived } from '../../runtime/derived.ts';
import type { Random } from '../../runtime/random.ts';
import type { SecretRecords, StoredSecret } from '../../secret-store.ts';
import { serviceUnavailable } from '../../status-error.ts';
import { derivedKey } from '../keys/loaded-keys.ts';
import type { SigningKeys } from '../keys/signing-keys.ts';
import { type DeviceDecision, type DeviceRecord, decodeDeviceRecord, encodeDeviceRecord } from './device-record.ts';
import { DEVICE_SECONDS, type DeviceRequest, endOf } from './device-request.ts';

/** Where the records are: Secrets of the cluster, or memory. */
export type StoredRecords = Pick<SecretRecords, 'get' | 'refresh' | 'create' | 'update' | 'remove' | 'onChange'>;

/** The records of codes that signed-in people have typed or decided about. All codes are without the dash. */
export interface DeviceRecords {
  /** From memory, which is at most seconds behind other replicas; `undefined` once it has ended. */
  read(userCode: string): DeviceRecord | undefined;
  /** A signed-in person has typed the code. `full`: there are too many records, of all or of this person. */
  claim(userCode: string, user: string): Promise<'claimed' | 'full'>;
  /** A device has polled with a claimed code. The first one is what the person is asked about. */
  attach(userCode: string, device: DeviceRequest): Promise<void>;
  /** The device that is attached, once one is; `undefined` after `longestMs`. */
  attached(userCode: string, longestMs: number, signal: AbortSignal): Promise<DeviceRequest | undefined>;
  /** Writes the decision about this device. `over`: somebody has decided before, or about another device with this code. */
  decide(userCode: string, device: DeviceRequest, decision: DeviceDecision): Promise<'decided' | 'over' | 'full'>;
  /** Removes a claim to which no device was attached. */
  unclaim(userCode: string): Promise<void>;
  /** Removes a record whose decision was fetched. It ends by itself if that fails. */
  fetched(userCode: string): Promise<void>;
  /** Present if a decision about this device was fetched on any replica, or has ended. `user` is the person who had allowed it. */
  past(sid: string): { readonly user?: string } | undefined;
  /** Removes records that have ended. */
  run(signal: AbortSignal): Promise<void>;
}

export interface DeviceRecordsParts {
  readonly records: StoredRecords;
  readonly keys: Pick<SigningKeys, 'digestKey'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** Only signed-in people make records; these bounds hold also if some of them mean harm. */
const MOST_RECORDS = 1000;
const MOST_OF_ONE = 20;

/** After this many conflicts in a row a change fails, and the caller gets a 503. Before each, we wait for a random time. */
const MOST_ATTEMPTS = 8;
const PAUSE_MS = 50;

/** Every replica looks for records that have ended, each at its own time. */
const SWEEP_MS = 60_000;

/** How many fetched or ended decisions are remembered. Beyond that the oldest are forgotten. */
const MOST_PAST = 10_000;

/** The next state of a record, `'none'` to remove it, nothing to leave it; and the result for the caller. */
interface Change<T> {
  readonly next?: DeviceRecord | 'none';
  readonly outcome: T;
}

/** The name of a record is the prefix and a keyed digest of its code, which nobody can find by trying all codes. */
export const createDeviceRecords = (namePrefix: string, parts: DeviceRecordsParts): DeviceRecords =>
  new KeptDeviceRecords(namePrefix, parts);

class KeptDeviceRecords implements DeviceRecords {
  readonly #namePrefix: string;
  readonly #parts: DeviceRecordsParts;
  /** The content of each record when we last saw it. */
  readonly #known = new Map<string, StoredSecret>();
  readonly #decoded = new WeakMap<StoredSecret, DeviceRecord | 'unreadable'>();
  readonly #past = new BoundedMap<{ readonly user?: string }>(MOST_PAST);
  readonly #waiting = new Set<() => void>();
  readonly #nameKey = derived((secret: Buffer) => derivedKey(secret, 'user code'));
  readonly #recordKey = derived((secret: Buffer) => derivedKey(secret, 'device record'));

  constructor(namePrefix: string, parts: DeviceRecordsParts) {
    this.#namePrefix = namePrefix;
    this.#parts = parts;
    parts.records.onChange((name) => this.#take(name));
  }

  read = (userCode: string): DeviceRecord | undefined => this.#live(this.#nameOf(userCode));

  past = (sid: string): { readonly user?: string } | undefined => this.#past.get(sid);

  claim = (userCode: string, user: string): Promise<'claimed' | 'full'> =>
    this.#change(userCode, (current) => {
      if (current) return { outcome: 'claimed' };
      if (this.#isFull(user)) return { outcome: 'full' };
      return { next: { user, endsAt: this.#now() + DEVICE_SECONDS }, outcome: 'claimed' };
    });

  attach = (userCode: string, device: DeviceRequest): Promise<void> =>
    this.#change(userCode, (current) =>
      current && !current.device
        ? { next: { ...current, device, endsAt: endOf(device) }, outcome: undefined }
        : { outcome: undefined },
    );

  decide = (userCode: string, device: DeviceRequest, decision: DeviceDecision): Promise<'decided' | 'over' | 'full'> =>
    this.#change(userCode, (current) => {
      const isOther = current?.device !== undefined && current.device.sid !== device.sid;
      if (current?.decision || isOther || this.#past.get(device.sid)) return { outcome: 'over' };
      if (!current && this.#isFull(decision.user)) return { outcome: 'full' };
      return { next: { user: decision.user, endsAt: endOf(device), device, decision }, outcome: 'decided' };
    });

  unclaim = (userCode: string): Promise<void> =>
    this.#change(userCode, (current) => ({
      ...(current && !current.device ? { next: 'none' as const } : {}),
      outcome: undefined,
    }));

  fetched = (userCode: string): Promise<void> => this.#change(userCode, () => ({ next: 'none', outcome: undefined }));

  async attached(userCode: string, longestMs: number, signal: AbortSignal): Promise<DeviceRequest | undefined> {
    const device = (): DeviceRequest | undefined => this.read(userCode)?.device;
    const done = new AbortController();
    const stopListening = onAbort(signal, () => done.abort());
    const look = (): void => {
      if (device()) done.abort();
    };
    this.#waiting.add(look);
    look();
    if (!done.signal.aborted) await this.#parts.clock.sleep(longestMs, done.signal);
    this.#waiting.delete(look);
    stopListening();
    return device();
  }

  run = async (signal: AbortSignal): Promise<void> => {
    const { clock, random } = this.#parts;
    while (!signal.aborted) {
      await clock.sleep(SWEEP_MS * (1 + random.fraction()), signal);
      await this.#sweep(signal);
    }
  };

  #now = (): number => Math.floor(this.#parts.clock.now() / 1000);

  #live(name: string): DeviceRecord | undefined {
    const record = this.#decode(name, this.#known.get(name));
    return record && record.endsAt > this.#now() ? record : undefined;
  }

  #isFull(user: string): boolean {
    if (this.#known.size >= MOST_RECORDS) return true;
    const own = [...this.#known.keys()].filter((name) => this.#live(name)?.user === user);
    return own.length >= MOST_OF_ONE;
  }

  /** By compare-and-swap. Rejects if the change could not be written. */
  async #change<T>(userCode: string, decide: (current: DeviceRecord | undefined) => Change<T>): Promise<T> {
    const { records, clock, random } = this.#parts;
    const name = this.#nameOf(userCode);
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      if (attempt > 0) {
        await clock.sleep(random.fraction() * PAUSE_MS);
        await records.refresh(name);
      }
      const { next, outcome } = decide(this.#live(name));
      if (next === undefined || (await this.#store(name, next))) return outcome;
    }
    throw new Error(`the record of a device code was changed by others ${MOST_ATTEMPTS} times in a row`);
  }

  /** Resolves to `false` if another change was stored first. */
  async #store(name: string, next: DeviceRecord | 'none'): Promise<boolean> {
    const { records } = this.#parts;
    const version = records.get(name)?.version;
    if (next === 'none') return version === undefined || (await records.remove(name, version)) === 'removed';
    const data = encodeDeviceRecord(next, { name, key: this.#recordKey(this.#secret()) });
    return version === undefined
      ? (await records.create(name, data)) === 'created'
      : (await records.update(name, data, version)) === 'updated';
  }

  /** Takes over the current state of a record. */
  #take(name: string): void {
    const before = this.#decode(name, this.#known.get(name));
    const now = this.#parts.records.get(name);
    if (now) this.#known.set(name, now);
    else this.#known.delete(name);
    this.#remember(before, this.#decode(name, now));
    for (const look of [...this.#waiting]) look();
  }

  /** A record that cannot be read counts as absent until it is swept. So does any while there is no key yet. */
  #decode(name: string, stored: StoredSecret | undefined): DeviceRecord | undefined {
    const secret = this.#parts.keys.digestKey();
    if (!stored || !secret) return undefined;
    const known = this.#decoded.get(stored) ?? decodeDeviceRecord(stored.data, { name, key: this.#recordKey(secret) });
    this.#decoded.set(stored, known ?? 'unreadable');
    return known === 'unreadable' ? undefined : known;
  }

  /** A decision that is gone was fetched, or has ended. */
  #remember({ device, decision }: Partial<DeviceRecord> = {}, now: DeviceRecord | undefined): void {
    if (!device || !decision || now?.device?.sid === device.sid) return;
    this.#past.set(device.sid, decision.isAllowed ? { user: decision.user } : {});
  }

  async #sweep(signal: AbortSignal): Promise<void> {
    const { records, logger, keys } = this.#parts;
    if (!keys.digestKey()) return;
    for (const name of [...this.#known.keys()]) {
      const version = records.get(name)?.version;
      if (signal.aborted || version === undefined || this.#live(name)) continue;
      await records.remove(name, version).catch((error: unknown) => {
        logger.warn({ err: error, secret: name }, 'the record of a device code cannot be removed yet');
      });
    }
  }

  #nameOf(userCode: string): string {
    const digest = createHmac('sha256', this.#nameKey(this.#secret())).update(userCode).digest('hex');
    return `${this.#namePrefix}${digest.slice(0, 40)}`;
  }

  #secret(): Buffer {
    const secret = this.#parts.keys.digestKey();
    if (!secret) throw serviceUnavailable('no device can sign in now', 1, new Error('there is no key for its code'));
    return secret;
  }
}
