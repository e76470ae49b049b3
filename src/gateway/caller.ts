import { fitsHeader, headerOctets } from '../runtime/text/header-text.ts';
import { reservedNames } from '../users/user.ts';

/** The user that calls the cluster through us: a verified identity, never taken from the request itself. */
export interface GatewayCaller {
  readonly name: string;
  /** Includes `system:authenticated`, which every signed-in user has. */
  readonly groups: readonly string[];
  /** The session of the sign-in. */
  readonly sid?: string | undefined;
  /** Groups of the user that our tokens leave out, because they have a meaning of their own in Kubernetes (`system:…`, `kubeadm:…`). */
  readonly withheldGroups?: readonly string[] | undefined;
}

/** The group of all authenticated users. Kubernetes does not add it to an impersonated user by itself. */
export const AUTHENTICATED = 'system:authenticated';

const USER = 'Impersonate-User';
const GROUP = 'Impersonate-Group';

/**
 * Makes the headers by which the API server treats a call as the caller's own
 * (https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation), and says who is never impersonated.
 */
export class CallerPolicy {
  readonly #isReserved: (name: string) => boolean;
  readonly #sessionHeader: string;

  /** `names` are never impersonated, as users or as groups, nor are names that begin with `system:` or `kubeadm:`. */
  constructor({ platform, names }: { readonly platform: string; readonly names: readonly string[] }) {
    this.#isReserved = reservedNames(names);
    // Characters that a header name may not have are percent-encoded in the name of an extra: here the slash.
    this.#sessionHeader = `Impersonate-Extra-${platform}.io%2Fsession`;
  }

  /**
   * Whether the cluster would take the caller for one of its own users, or for a member of its own groups. Such a call is not
   * sent (A-31, A-32, docs/promises.md).
   */
  isReserved({ name, groups, withheldGroups = [] }: GatewayCaller): boolean {
    if (name === '' || this.#isReserved(name) || withheldGroups.length > 0) return true;
    return groups.some((group) => group !== AUTHENTICATED && this.#isReserved(group));
  }

  /** The first of the caller's groups whose name a header cannot carry unchanged: the cluster would read another name. */
  unsendableGroup({ groups }: GatewayCaller): string | undefined {
    return groups.find((group) => !fitsHeader(group));
  }

  /**
   * The headers, each name followed by its value in UTF-8 octets: one user, one header for each group with `system:authenticated`
   * last, and the session.
   */
  headersOf(caller: GatewayCaller): readonly string[] {
    const headers = [USER, headerOctets(caller.name)];
    for (const group of caller.groups) if (group !== AUTHENTICATED) headers.push(GROUP, headerOctets(group));
    headers.push(GROUP, AUTHENTICATED);
    if (caller.sid !== undefined) headers.push(this.#sessionHeader, headerOctets(caller.sid));
    return headers;
  }

  /**
   * The last check of the headers before they are sent, no matter which code made them. Throws unless they name this caller exactly
   * once, and neither a reserved user or group nor any other part of an identity. A call without such headers would have the rights of
   * our own account.
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
