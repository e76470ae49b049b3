import { isPrintable } from '../printable.ts';

/** What the authorization request of this sign-in contained, and the server that got it. */
export interface SentRequest {
  readonly state: string;
  /** The issuer in the metadata of the server that was asked. */
  readonly issuer: string;
}

/** What a request to our listener is. */
export type AuthorizationReturn =
  /** The person has signed in. */
  | { readonly kind: 'code'; readonly code: string }
  /** The sign-in has ended without a code; `reason` completes "the sign-in failed: ". */
  | { readonly kind: 'refused'; readonly reason: string }
  /** Something else than the answer to our request, which is still awaited. */
  | { readonly kind: 'foreign' };

/** An answer of the server: the sign-in ends with it. */
export type FinalReturn = Exclude<AuthorizationReturn, { kind: 'foreign' }>;

/** The parameters of an authorization response (RFC 6749 4.1.2, RFC 9207 2), which occur at most once. */
const PARAMETERS = ['state', 'iss', 'error', 'error_description', 'code'] as const;

/**
 * Checks an authorization response. `state` comes first: any page in the browser and any program of this machine can send requests to
 * the listener, and none of them may end the sign-in. Then `iss` shows that the code is not one of another server, which an attacker
 * wants to have redeemed at ours (mix-up, RFC 9700 4.4).
 */
export function readAuthorizationReturn(query: URLSearchParams, sent: SentRequest): AuthorizationReturn {
  const isRepeated = PARAMETERS.some((name) => query.getAll(name).length > 1);
  if (query.get('state') !== sent.state || isRepeated) return { kind: 'foreign' };
  if (query.get('iss') !== sent.issuer) return refused('the answer does not name the server that was asked');
  const error = query.get('error');
  if (error !== null) return refused(describeError(error, query.get('error_description')));
  const code = query.get('code');
  return code ? { kind: 'code', code } : refused('the answer has no code');
}

const refused = (reason: string): AuthorizationReturn => ({ kind: 'refused', reason });

/** The refusal of a person in plain words; any other error in those of the server. */
function describeError(error: string, description: string | null): string {
  if (error === 'access_denied') return 'it was refused';
  return (
    [error, description].filter((text) => text !== null && isPrintable(text)).join(': ') || 'for an unknown reason'
  );
}
