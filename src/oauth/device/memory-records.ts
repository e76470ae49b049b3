import type { StoredSecret } from '../../secret-store.ts';
import type { StoredRecords } from './device-records.ts';

/** Records of a single replica, until it ends: a store with the interface of Secrets, so that both are used in one way. */
export function createMemoryRecords(): StoredRecords {
  const stored = new Map<string, StoredSecret>();
  const listeners: ((name: string) => void)[] = [];
  let version = 0;
  const put = (name: string, data: StoredSecret['data'] | undefined): void => {
    if (data) stored.set(name, { data, version: String(++version) });
    else stored.delete(name);
    for (const changed of listeners) changed(name);
  };
  const isCurrent = (name: string, wanted: string): boolean => stored.get(name)?.version === wanted;
  return {
    get: (name) => stored.get(name),
    refresh: async () => {},
    create: async (name, data) => {
      if (stored.has(name)) return 'exists';
      put(name, data);
      return 'created';
    },
    update: async (name, data, wanted) => {
      if (!isCurrent(name, wanted)) return 'conflict';
      put(name, data);
      return 'updated';
    },
    remove: async (name, wanted) => {
      if (!isCurrent(name, wanted)) return 'conflict';
      put(name, undefined);
      return 'removed';
    },
    onChange: (changed) => void listeners.push(changed),
  };
}
