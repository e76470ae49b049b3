import {
  type AccessReviewAuthorizer,
  type AccessReviewParts,
  createAccessReviewAuthorizer,
} from '../authorization/access-review-authorizer.ts';
import { createAlwaysAllow } from '../authorization/always-allow.ts';
import type { Authorizer, ForgetfulAuthorizer } from '../authorization/authorizer.ts';
import { recentQuestionMetrics } from '../authorization/metrics.ts';
import { QuestionRenewal } from '../authorization/question-renewal.ts';
import { QuestionSharing } from '../authorization/question-sharing.ts';
import { RecentQuestions } from '../authorization/recent-questions.ts';
import type { Config } from '../config/config.ts';
import type { Cluster } from '../kubernetes/cluster.ts';
import { type Family, NO_UPKEEP } from './family.ts';
import { createFirstReview } from './readiness.ts';
import type { Part } from './run-group.ts';
import { type SessionStoreKind, sessionStoreKind } from './session-stores.ts';

export interface AuthorizationOptions {
  readonly mode: 'RBAC' | 'AlwaysAllow';
  readonly maxStalenessMs: number;
  /** Part of the name of the Secret by which replicas share their recent questions. */
  readonly platform: string;
  /** Whether replicas share recent questions. Default: yes if sessions are in Secrets, to which our account then has the right. */
  readonly shareQuestions: boolean | undefined;
  readonly sessionStore: SessionStoreKind | undefined;
  /** Whether we ask about rights that a user grants to somebody else; only accounts do. */
  readonly asksAboutOthers: boolean;
}

/** The options of the authorizer in this configuration. */
export const toAuthorizationOptions = ({
  platform,
  authorization,
  sessions,
  accounts,
}: Pick<Config, 'platform' | 'authorization' | 'sessions' | 'accounts'>): AuthorizationOptions => ({
  platform,
  mode: authorization.mode,
  maxStalenessMs: authorization.maxStaleness,
  shareQuestions: authorization.shareQuestions,
  sessionStore: sessions.store,
  asksAboutOthers: accounts.enabled,
});

export interface AuthorizationParts extends Omit<AccessReviewParts, 'reviewer' | 'recent'> {
  readonly cluster: Pick<Cluster, 'reviewer' | 'secrets' | 'inCluster'>;
}

export interface Authorization extends Family {
  readonly authorizer: Authorizer;
  /** Asks the cluster in every mode, about rights that a user grants to somebody else; only the accounts need it. */
  readonly reviews?: ForgetfulAuthorizer;
}

/** The authorizer of callers, its first question to the cluster, and the renewal that keeps its answers ready for an outage. */
export function createAuthorization(options: AuthorizationOptions, parts: AuthorizationParts): Authorization {
  const { mode, maxStalenessMs: maxStaleMs, asksAboutOthers, sessionStore } = options;
  const { cluster, clock, random, logger } = parts;
  const authorizer = mode === 'AlwaysAllow' ? createAlwaysAllow(parts.registry) : undefined;
  if (authorizer && !asksAboutOthers) return { authorizer, upkeep: NO_UPKEEP };
  const isShared = options.shareQuestions ?? sessionStoreKind(sessionStore, cluster) === 'kubernetes';
  const recent = isShared && !authorizer ? new RecentQuestions(clock) : undefined;
  const reviewer = cluster.reviewer;
  const reviews = createAccessReviewAuthorizer({ maxStaleMs }, { ...parts, reviewer, recent });
  if (authorizer) return { authorizer, reviews, upkeep: NO_UPKEEP };
  const first = createFirstReview({ reviewer, clock, random, logger });
  const kept = recent ? keepReady(recent, reviews, options, parts) : [];
  return {
    authorizer: reviews,
    reviews,
    upkeep: { ...NO_UPKEEP, parts: [first.part, ...kept], checks: [first.check] },
  };
}

/** Renews the answers to recent questions, and shares the questions with the other replicas. */
function keepReady(
  recent: RecentQuestions,
  answers: AccessReviewAuthorizer,
  { platform, maxStalenessMs }: AuthorizationOptions,
  { cluster, clock, random, logger, registry }: AuthorizationParts,
): Part[] {
  const count = recentQuestionMetrics(registry, () => recent.counts);
  const renewal = new QuestionRenewal(maxStalenessMs, { recent, answers, clock, random, count });
  const secretName = `${platform}-recent-questions`;
  const sharing = new QuestionSharing(secretName, { recent, secrets: cluster.secrets, clock, random, logger });
  return [
    { name: 'renewal of decisions', run: (signal) => renewal.run(signal) },
    { name: 'sharing of recent questions', run: (signal) => sharing.run(signal) },
  ];
}
