import { headerOctets } from '../../runtime/text/header-text.ts';
import type { ImpersonationHeaders } from './cluster-access.ts';
import { isSendable } from './header-text.ts';
import type { LoadedUser } from './loaded-entries.ts';

/** The error when the gateway is enabled and the kubeconfig's user impersonates another: impersonation cannot be chained. */
export const NO_CHAIN = 'the gateway needs a kubeconfig whose user impersonates nobody';

/** The characters of a header name (RFC 9110 5.6.2), except `%`, which begins an escape. */
const PLAIN_KEY_BYTE = /[!#$&'*+\-.^_`|~0-9A-Za-z]/;

/**
 * The headers of a kubeconfig user's `as`, `as-groups`, `as-uid` and `as-user-extra`
 * (https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation); `undefined` without them. Throws
 * an `Error` for a setting that cannot be used: if it were dropped, we would have the rights of the wrong user.
 */
export function impersonationHeaders(user: LoadedUser): ImpersonationHeaders | undefined {
  const { impersonateUser: as, asUid, asGroups, asUserExtra } = user;
  if (as === '') {
    if (asUid === '' && asGroups.length === 0 && asUserExtra.size === 0) return undefined;
    throw new Error('asks for as-uid, as-groups or as-user-extra without as');
  }
  const extra = [...asUserExtra].map(
    ([key, values]) =>
      [`impersonate-extra-${escaped(key)}`, values.map((one) => sendable(one, 'as-user-extra'))] as const,
  );
  return {
    'impersonate-user': sendable(as, 'as'),
    ...(asUid === '' ? {} : { 'impersonate-uid': sendable(asUid, 'as-uid') }),
    ...(asGroups.length === 0 ? {} : { 'impersonate-group': asGroups.map((one) => sendable(one, 'as-groups')) }),
    ...Object.fromEntries(extra),
  };
}

function sendable(value: string, setting: string): string {
  if (!isSendable(value)) throw new Error(`has an ${setting} that no header can carry`);
  return headerOctets(value);
}

/** Percent-encodes the bytes that a header name cannot contain, as client-go does. */
const escaped = (key: string): string =>
  Array.from(Buffer.from(key), (byte) => {
    const character = String.fromCharCode(byte);
    return PLAIN_KEY_BYTE.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');
