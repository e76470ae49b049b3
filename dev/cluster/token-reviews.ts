import { type Identity, withAuthenticated } from './identity.ts';
import type { ObjectStore } from './object-store.ts';
import { badRequest } from './status.ts';
import { ISSUER, type TokenSigner } from './token-signer.ts';

/** `spec` of a TokenReview. */
export interface TokenReviewSpec {
  readonly token?: string;
  readonly audiences?: readonly string[];
}

export interface TokenReviewParts {
  readonly tokens: ReadonlyMap<string, Identity>;
  readonly store: ObjectStore;
  readonly signer: TokenSigner;
  /** Returns a status to use instead of the usual one; `undefined`: the usual one. */
  readonly reviewToken: (spec: TokenReviewSpec) => object | undefined;
}

/** `status` of a TokenReview. `authenticated` is left out when it is false, as Go does. */
export function tokenStatus(spec: TokenReviewSpec, parts: TokenReviewParts): object {
  const { token, audiences = [] } = spec;
  if (!token) throw badRequest('token is required for TokenReview in authentication');
  const targets = audiences.length > 0 ? audiences : [ISSUER];
  return (
    parts.reviewToken(spec) ??
    staticToken(token, targets, parts) ??
    serviceAccountToken(token, targets, parts) ?? { user: {}, error: 'invalid bearer token' }
  );
}

/** Tokens from a token file have only the audience of the API server itself. */
function staticToken(token: string, targets: readonly string[], { tokens }: TokenReviewParts): object | undefined {
  const identity = tokens.get(token);
  return identity && targets.includes(ISSUER)
    ? { authenticated: true, user: withAuthenticated(identity), audiences: [ISSUER] }
    : undefined;
}

function serviceAccountToken(
  token: string,
  targets: readonly string[],
  { signer, store }: TokenReviewParts,
): object | undefined {
  const claims = signer.read(token);
  if (!claims) return undefined;
  const { namespace, serviceaccount } = claims['kubernetes.io'];
  const audiences = targets.filter((target) => claims.aud.includes(target));
  if (audiences.length === 0) return refused(audienceFault(claims.aud, targets));
  const uid = store.get('serviceaccounts', `${namespace}/${serviceaccount.name}`)?.metadata.uid;
  if (uid !== serviceaccount.uid) return refused(`serviceaccounts "${serviceaccount.name}" not found`);
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
  const extra = { 'authentication.kubernetes.io/credential-id': [`JTI=${claims.jti}`] };
  return { authenticated: true, user: { username: claims.sub, uid, groups, extra }, audiences };
}

/** A real server lists the reasons of all its authenticators. */
const refused = (why: string): object => ({ user: {}, error: `[invalid bearer token, ${why}]` });

const audienceFault = (aud: readonly string[], targets: readonly string[]): string =>
  `token audiences ${quoted(aud)} is invalid for the target audiences ${quoted(targets)}`;

const quoted = (texts: readonly string[]): string => `[${texts.map((text) => JSON.stringify(text)).join(' ')}]`;
