import { readBearer } from '../../oauth/endpoints/authorization-header.ts';
import type { BearerVerifier, Identity, TokenFault, Verification } from '../../oauth/tokens/identity.ts';
import type { StatusError } from '../../status-error.ts';
import { malformed, unauthorized } from '../answer/refusals.ts';
import type { Exchange, Outcome, Step } from '../exchange.ts';
import type { HttpMetrics } from '../metrics.ts';
import type { PageAuthentication } from '../page/page-authentication.ts';
import type { AnswerDeadline } from './answer-deadline.ts';

export interface AuthenticateParts {
  readonly verifier: BearerVerifier;
  /** Absent without a page: then no cookie is looked at. */
  readonly page?: PageAuthentication | undefined;
  /** The realm of every challenge. */
  readonly platform: string;
  readonly maxBearerBytes: number;
  readonly metrics: HttpMetrics;
  readonly deadline: AnswerDeadline;
}

const SENTENCES: Readonly<Record<TokenFault, string>> = {
  expired: 'the access token has expired',
  revoked: 'the access token has been revoked',
  not_yet_valid: 'the access token is not valid yet; check the clocks',
  invalid: 'the access token is not valid',
};

/**
 * Verifies the bearer token: this step answers 401, or the caller is known after it. Query parameters and other headers are not accepted as
 * credentials (N-30, A-33), and the cookie of a session only from a page of ours (W-01).
 */
export function createAuthenticate(parts: AuthenticateParts): Step {
  const challenge = `Bearer realm="${parts.platform}"`;
  const refuse = (fault: TokenFault): StatusError =>
    unauthorized(SENTENCES[fault], `${challenge}, error="invalid_token"`);
  const conclude = (exchange: Exchange, verification: Verification): Outcome => {
    if ('fault' in verification) {
      exchange.reason = verification.fault;
      throw refuse(verification.fault);
    }
    exchange.authenticated(verification.identity);
    return 'next';
  };
  const signedIn = (exchange: Exchange, person: Identity | 'ended'): Outcome => {
    if (person === 'ended') {
      exchange.reason = 'session_ended';
      throw unauthorized('the session of this browser has ended', challenge);
    }
    exchange.authenticated(person);
    return 'next';
  };
  return function authenticate(exchange) {
    const bearer = readBearer(exchange.authorization, parts.maxBearerBytes);
    const person = bearer.kind === 'absent' ? parts.page?.(exchange.request) : undefined;
    if (person) return signedIn(exchange, person);
    if (bearer.kind !== 'token') {
      const result = bearer.kind === 'absent' ? 'absent' : 'malformed';
      parts.metrics.bearerRefused(result);
      exchange.reason = result;
      if (bearer.kind === 'absent') throw unauthorized('no bearer token was sent', challenge);
      if (bearer.kind === 'unfit') throw refuse('invalid');
      const header = { 'WWW-Authenticate': `${challenge}, error="invalid_request"` };
      throw malformed('its Authorization header is not one bearer token', header);
    }
    const verification = parts.verifier.verify(bearer.text, exchange.source);
    return verification instanceof Promise
      ? parts.deadline.bound(verification, exchange).then((judged) => conclude(exchange, judged))
      : conclude(exchange, verification);
  };
}
