import type { Answer } from './answer.ts';
import type { ApiRequest } from './request.ts';
import { ApiError, methodNotAllowed } from './status.ts';
import type { TokenSigner } from './token-signer.ts';

const PATHS: readonly string[] = ['/openid/v1/jwks', '/openid/v1/jwks/'];
/** The only media type of these keys. A client that accepts only plain JSON gets a 406. */
const JWK_SET = 'application/jwk-set+json';

/** The keys of service account tokens (service account issuer discovery); undefined for any other path. */
export function publishKeys({ path, verb, headers }: ApiRequest, signer: TokenSigner): Answer | undefined {
  if (!PATHS.includes(path)) return undefined;
  if (verb !== 'get') throw methodNotAllowed();
  const accepted = (headers.accept ?? '*/*').split(',').map((type) => type.split(';')[0]?.trim());
  if (!accepted.includes(JWK_SET) && !accepted.includes('*/*')) throw notAcceptable();
  return {
    code: 200,
    text: JSON.stringify(signer.jwks()),
    contentType: JWK_SET,
    headers: { 'cache-control': 'public, max-age=3600' },
  };
}

const notAcceptable = (): ApiError =>
  new ApiError({
    code: 406,
    reason: 'NotAcceptable',
    message: `406: Not Acceptable\n\nAvailable representations: ${JWK_SET}`,
    details: {},
  });
