import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { Clock } from '../runtime/clock.ts';

/** How long an address is used; the answers of cluster DNS have the same TTL. */
const KNOWN_FOR_MS = 30_000;

/**
 * Resolves names and caches the addresses. There is one look-up of a name at a time, because a look-up holds a thread until the resolver
 * answers, and passwords are hashed in the same thread pool. So a resolver that hangs takes one thread and not all. While look-ups
 * fail, the last addresses are used.
 */
export function createLookup(clock: Clock, resolve: typeof lookup = lookup): LookupFunction {
  const known = new Map<string, { readonly addresses: readonly LookupAddress[]; readonly until: number }>();
  const inFlight = new Map<string, Promise<readonly LookupAddress[]>>();
  const ask = (name: string): Promise<readonly LookupAddress[]> =>
    new Promise((settle, reject) => {
      resolve(name, { all: true }, (error, addresses) => {
        const last = known.get(name)?.addresses;
        if (error && !last) return reject(error);
        if (!error) known.set(name, { addresses, until: clock.monotonic() + KNOWN_FOR_MS });
        settle(error ? (last ?? []) : addresses);
      });
    });
  const addressesOf = (name: string): Promise<readonly LookupAddress[]> => {
    const found = known.get(name);
    if (found && found.until > clock.monotonic()) return Promise.resolve(found.addresses);
    const asked = inFlight.get(name) ?? ask(name).finally(() => inFlight.delete(name));
    inFlight.set(name, asked);
    return asked;
  };
  return (name, options, callback) => {
    addressesOf(name).then(
      (addresses) => {
        const [first] = addresses;
        if (options.all) callback(null, [...addresses]);
        else if (first) callback(null, first.address, first.family);
        else callback(Object.assign(new Error(`no address of ${name}`), { code: 'ENOTFOUND' }), '');
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    );
  };
}
