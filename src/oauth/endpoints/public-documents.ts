import { createHash } from 'node:crypto';
import type { PublicDocument } from '../authorization-server.ts';
import type { PublicJwk } from '../keys/signing-key-data.ts';
import type { SigningKeys } from '../keys/signing-keys.ts';
import { DEVICE_GRANT, endpointUrl, type OAuthOptions } from '../options.ts';
import { SCOPES } from './grant.ts';
import { notAvailable } from './refusals.ts';

/** A JSON document with a strong validator (RFC 9110 8.8.3): equal bytes have equal tags on every replica. */
function toDocument(value: object): PublicDocument {
  const body = Buffer.from(JSON.stringify(value));
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` };
}

/**
 * The JWK Set (RFC 7517 5), made once for each state of the keys. Throws `server_error` (503) while there are no keys, because a
 * client would cache an empty set for minutes.
 */
export function createJwks(keys: Pick<SigningKeys, 'publicKeys' | 'fault'>): () => PublicDocument {
  let made: { readonly of: readonly PublicJwk[]; readonly document: PublicDocument } | undefined;
  return () => {
    const now = keys.publicKeys();
    if (now.length === 0) throw notAvailable(new Error(keys.fault()));
    if (now !== made?.of) made = { of: now, document: toDocument({ keys: now }) };
    return made.document;
  };
}

/** The claims about a user and a sign-in that are in our tokens or in userinfo. */
const CLAIMS =
  'iss sub aud iat exp auth_time sid at_hash name email email_verified locale preferred_username groups'.split(' ');

/**
 * Authorization server metadata (RFC 8414 2, OpenID Connect Discovery 3). It names only what works (N-44): for example, a public
 * client may revoke its tokens without authentication, but may not introspect any. Without a client
 * for browsers it has no `response_types_supported`, because RFC 8414 3.2 forbids empty arrays.
 */
export function createMetadata(
  options: OAuthOptions,
  { grantTypes, forBrowsers }: { readonly grantTypes: readonly string[]; readonly forBrowsers: object | undefined },
): PublicDocument {
  const proofs = ['client_secret_basic', 'client_secret_post'];
  const methods = options.clients.some((client) => client.public) ? [...proofs, 'none'] : proofs;
  return toDocument({
    issuer: options.issuer,
    ...(forBrowsers ? { authorization_endpoint: endpointUrl(options.issuer, 'authorize') } : {}),
    ...(grantTypes.includes(DEVICE_GRANT)
      ? { device_authorization_endpoint: endpointUrl(options.issuer, 'device_authorization') }
      : {}),
    token_endpoint: endpointUrl(options.issuer, 'token'),
    userinfo_endpoint: endpointUrl(options.issuer, 'userinfo'),
    jwks_uri: endpointUrl(options.issuer, 'keys'),
    revocation_endpoint: endpointUrl(options.issuer, 'revoke'),
    introspection_endpoint: endpointUrl(options.issuer, 'introspect'),
    end_session_endpoint: endpointUrl(options.issuer, 'logout'),
    grant_types_supported: grantTypes,
    ...forBrowsers,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    token_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_methods_supported: methods,
    introspection_endpoint_auth_methods_supported: proofs,
    scopes_supported: SCOPES,
    claims_supported: CLAIMS,
  });
}
