import { type AccessReviewParts, createAccessReviewAuthorizer } from '../authorization/access-review-authorizer.ts';
import { createAlwaysAllow } from '../authorization/always-allow.ts';
import type { Authorizer, ForgetfulAuthorizer } from '../authorization/authorizer.ts';
import type { Config } from '../config/config.ts';
import { createFirstReview } from './readiness.ts';
import { NO_UPKEEP, type Upkeep } from './run-group.ts';

interface Authorization {
  readonly authorizer: Authorizer;
  /** Asks the cluster, whatever the mode: about rights that are given on to somebody else, which only accounts do. */
  readonly reviews?: ForgetfulAuthorizer;
  readonly upkeep: Upkeep;
}

/** What judges callers, and its first question to the cluster. */
export function createAuthorization(
  { authorization: { mode, maxStaleness }, accounts }: Pick<Config, 'authorization' | 'accounts'>,
  parts: AccessReviewParts,
): Authorization {
  const authorizer = mode === 'AlwaysAllow' ? createAlwaysAllow(parts.registry) : undefined;
  if (authorizer && !accounts.enabled) return { authorizer, upkeep: NO_UPKEEP };
  const reviews = createAccessReviewAuthorizer({ maxStaleMs: maxStaleness }, parts);
  if (authorizer) return { authorizer, reviews, upkeep: NO_UPKEEP };
  const { part, check } = createFirstReview(parts);
  return { authorizer: reviews, reviews, upkeep: { ...NO_UPKEEP, parts: [part], checks: [check] } };
}
