import { fitsHeader, headerOctets } from '../runtime/text/header-text.ts';
import { reservedNames } from '../users/user.ts';

/** Who calls the cluster through us: a verified identity, and nothing that the request itself says. */
export interface GatewayCaller {
  readonly name: string;
  /** With `system:authenticated`, which every signed-in user has. */
  readonly groups: readonly string[];
  /** The session of the sign-in. */
  readonly sid?: string | undefined;
  /** Groups of the user that no token of ours carries, because Kubernetes gives them its own meaning. */
  readonly withheldGroups?: readonly string[] | undefined;
}

/** The group of everybody whom the cluster has authenticated. Kubernetes adds it to no impersonated user by itself. */
export const AUTHENTICATED = 'system:authenticated';

const USER = 'Impersonate-User';
const GROUP = 'Impersonate-Group';

/**
 * The headers by which the API server treats a call as the caller's own
 * (https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation), and whom we never act as.
 */
export class CallerPolicy {
  readonly #isReserved: (name: string) => boolean;
  readonly #sessionHeader: string;

  /** `names`: users whom nobody acts as, besides those that Kubernetes gives its own meaning. */
  constructor({ platform, names }: { readonly platform: string; readonly names: readonly string[] }) {
    this.#isReserved = reservedNames(names);
    // The name of an extra is percent-encoded where a header name has no room for it: here the slash.
    this.#sessionHeader = `Impersonate-Extra-${platform}.io%2Fsession`;
  }

  /** Whether the cluster would take the caller for one of its own, so that nothing may be sent. */
  isReserved({ name, groups, withheldGroups = [] }: GatewayCaller): boolean {
    if (name === '' || this.#isReserved(name) || withheldGroups.length > 0) return true;
    return groups.some((group) => group !== AUTHENTICATED && this.#isReserved(group));
  }

  /** The first of the caller's groups that no header can carry, so that the cluster would take it for another one. */
  unsendableGroup({ groups }: GatewayCaller): string | undefined {
    return groups.find((group) => !fitsHeader(group));
  }

  /** Names and values in turn, in UTF-8 octets: one user, each group in a header of its own with `system:authenticated` last, the session. */
  headersOf(caller: GatewayCaller): readonly string[] {
    const headers = [USER, headerOctets(caller.name)];
    for (const group of caller.groups) if (group !== AUTHENTICATED) headers.push(GROUP, headerOctets(group));
    headers.push(GROUP, AUTHENTICATED);
    if (caller.sid !== undefined) headers.push(this.#sessionHeader, headerOctets(caller.sid));
    return headers;
  }

  /**
   * The last check of the headers that go out, no matter which code made them: throws unless they name this caller, once, and no
   * reserved group or user, and no other part of an identity. A call must not go out under our own account.
   */
  assertOf(headers: readonly string[], caller: GatewayCaller): void {
    if (this.isReserved(caller)) throw new Error('a reserved identity came to the end of the gateway');
    const { name, sid = name } = caller;
    for (const text of [name, sid, ...caller.groups])
      if (!fitsHeader(text)) throw new Error('no header can carry a part of the identity');
    const own = new Set([AUTHENTICATED, ...caller.groups].map(headerOctets));
    let users = 0;
    let groups = 0;
    for (let index = 0; index < headers.length; index += 2) {
      const [header = '', value = ''] = [headers[index], headers[index + 1]];
      if (!header.toLowerCase().startsWith('impersonate')) continue;
      if (header === USER && value === headerOctets(name)) users += 1;
      else if (header === GROUP && own.has(value)) groups += 1;
      else if (header !== this.#sessionHeader || caller.sid === undefined || value !== headerOctets(sid))
        throw new Error('the identity is not the caller’s');
    }
    if (users !== 1 || groups === 0) throw new Error('the identity is not complete');
  }
}
