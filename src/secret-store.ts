/** A Secret as read: its data decoded, and the version that an update must name. */
export interface StoredSecret {
  readonly data: Readonly<Record<string, Buffer>>;
  /** Opaque, for compare-and-swap. */
  readonly version: string;
}

/**
 * What the token service and the user directory keep in the cluster: Secrets of Gatehouse's own namespace, by name.
 * Every failure to reach or use the cluster is a rejected promise; the outcomes below are values.
 */
export interface SecretStore {
  /** `undefined` when there is no such Secret. */
  read(name: string): Promise<StoredSecret | undefined>;
  /** Creates it, unless somebody else was first: then `'exists'`. */
  create(name: string, data: Readonly<Record<string, Buffer>>): Promise<StoredSecret | 'exists'>;
  /** Replaces the data when the stored version is still `version`, else `'conflict'`. */
  update(name: string, data: Readonly<Record<string, Buffer>>, version: string): Promise<StoredSecret | 'conflict'>;
  /**
   * Calls `onChange` with the Secret as it is, then at every change (`undefined` once deleted), until the signal aborts.
   * Survives every failure of the cluster. Only a bug makes it throw.
   */
  watch(name: string, onChange: (secret: StoredSecret | undefined) => void, signal: AbortSignal): Promise<void>;
}
