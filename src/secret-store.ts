import type { LastProof } from './data-age.ts';

type SecretData = Readonly<Record<string, Buffer>>;

/** A Secret as read: its data decoded, and the version that an update must name. */
export interface StoredSecret {
  readonly data: SecretData;
  /** Opaque, for compare-and-swap. */
  readonly version: string;
}

/**
 * What the token service and the user directory keep in the cluster: Secrets of Gatehouse's own namespace, by name.
 * Every failure to reach or use the cluster is a rejected promise; the outcomes below are values.
 * @example
 * ```ts
 * async function countUp(secrets: SecretStore): Promise<void> {
 *   const stored = await secrets.read('counter');
 *   const data = { count: Buffer.from(`${Number(stored?.data['count'] ?? 0) + 1}`) };
 *   const outcome = stored
 *     ? await secrets.update('counter', data, stored.version)
 *     : await secrets.create('counter', data);
 *   // Somebody else was faster: decide again on what they wrote.
 *   if (outcome === 'exists' || outcome === 'conflict') await countUp(secrets);
 * }
 *
 * const secrets = new MemorySecrets(); // test/unit/oauth/memory-secrets.ts
 * await Promise.all([countUp(secrets), countUp(secrets)]);
 * const counter = await secrets.read('counter');
 * assert.equal(counter?.data['count']?.toString(), '2');
 * ```
 */
export interface SecretStore {
  /** `undefined` when there is no such Secret. */
  read(name: string): Promise<StoredSecret | undefined>;
  /** Creates the Secret, or resolves to `'exists'` if there is one already. */
  create(name: string, data: SecretData): Promise<StoredSecret | 'exists'>;
  /** Replaces the data when the stored version is still `version`, else `'conflict'`. */
  update(name: string, data: SecretData, version: string): Promise<StoredSecret | 'conflict'>;
  /**
   * Calls `onChange` with the current Secret, then at every change (`undefined` once deleted), until the signal aborts.
   * Survives every failure of the cluster. Only a bug makes it throw.
   */
  watch(name: string, onChange: (secret: StoredSecret | undefined) => void, signal: AbortSignal): Promise<void>;
  /** When the Secret that `watch` reports was last proved current. Always the same object, also before the watch begins. */
  proofOf(name: string): LastProof;
}

/**
 * The Secrets of one purpose, all of them in memory: for data that every request needs and that seldom changes. Reads show our own
 * writes at once, and other writes when the watch delivers them. Failures to reach the cluster are rejected promises; the outcomes
 * below are values.
 */
export interface SecretRecords {
  get(name: string): StoredSecret | undefined;
  names(): Iterable<string>;
  /** Reads the Secret from the cluster into memory: for a writer that lost a race. */
  refresh(name: string): Promise<void>;
  create(name: string, data: SecretData): Promise<'created' | 'exists'>;
  /** Replaces the data when the stored version is still `version`, else `'conflict'`. */
  update(name: string, data: SecretData, version: string): Promise<'updated' | 'conflict'>;
  /** Removes it when the stored version is still `version`, else `'conflict'`. */
  remove(name: string, version: string): Promise<'removed' | 'conflict'>;
  /** Calls `changed` with the name of each Secret whose content in memory has changed. */
  onChange(changed: (name: string) => void): void;
  /** Whether the first complete list is in memory. */
  hasSynced(): boolean;
  /** When memory was last proved current. */
  readonly proof: LastProof;
}
