import { pino } from 'pino';
import { Registry } from 'prom-client';
import { ServiceAccountTokens, type SignatureVerdict } from '../../../src/authentication/service-account-tokens.ts';
import type { TokenReviewer } from '../../../src/authentication/token-questions.ts';
import { createVerificationCounter } from '../../../src/oauth/metrics.ts';
import { parseCompactJws, toJwsPart } from '../../../src/oauth/tokens/compact-jws.ts';
import type { Verification } from '../../../src/oauth/tokens/identity.ts';
import type { CallFault } from '../../../src/runtime/limits/circuit-breaker.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import { StatusError } from '../../../src/status-error.ts';
import { FakeClock } from '../../support/fake-clock.ts';

/** Where every token comes from. */
export const SOURCE = '192.0.2.1';
export const AUDIENCE = 'https://gatehouse.example.com/oauth';
const USERNAME = 'system:serviceaccount:shop:robot';
type Account = Awaited<ReturnType<TokenReviewer['review']>>;

export const ROBOT = {
  username: USERNAME,
  uid: 'uid-of-robot',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:shop', 'system:authenticated'],
};
export const IDENTITY = { name: USERNAME, uid: ROBOT.uid, groups: ROBOT.groups };

interface Pending {
  readonly token: string;
  readonly audience: string;
  readonly signal: AbortSignal;
  answer(account: Account): void;
  fail(fault?: CallFault): void;
}

/** A cluster whose answers are given by hand. */
class ScriptedReviewer implements TokenReviewer {
  readonly reviews: Pending[] = [];

  review(token: string, audience: string, signal: AbortSignal): Promise<Account> {
    return new Promise((resolve, reject) => {
      const fail = (fault = {}): void => reject(Object.assign(new Error('the cluster is away'), fault));
      this.reviews.push({ token, audience, signal, answer: resolve, fail });
    });
  }

  get last(): Pending {
    return this.reviews.at(-1)!;
  }
}

export type Claims = Readonly<Record<string, unknown>>;

/** Nothing here judges the signature: `keys` says what it is. */
export const tokenOf = (claims: Claims): string =>
  `${toJwsPart({ alg: 'RS256', kid: 'k' })}.${toJwsPart(claims)}.c2lnbmF0dXJl`;

/** Tokens of service accounts in front of a scripted cluster; every signature is good unless `keys` says otherwise. */
export function createRobots() {
  const clock = new FakeClock();
  const reviewer = new ScriptedReviewer();
  const registry = new Registry();
  const verifications = createVerificationCounter(registry);
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push((JSON.parse(line) as { msg: string }).msg) });
  const random = { ...systemRandom, fraction: () => 0.5 };
  const keys = {
    verdict: 'good' as SignatureVerdict | Promise<SignatureVerdict>,
    sources: [] as string[],
    check: (_: unknown, source: string) => {
      keys.sources.push(source);
      return keys.verdict;
    },
  };
  const tokens = new ServiceAccountTokens(AUDIENCE, { reviewer, keys, clock, random, verifications, logger });
  const now = (): number => Math.floor(clock.now() / 1000);
  const claimsOf = (change: Claims = {}): Claims => ({
    aud: [AUDIENCE],
    exp: now() + 3_600,
    iat: now(),
    iss: 'https://kubernetes.default.svc',
    sub: USERNAME,
    ...change,
  });
  /** As a request does: what is known first, then the cluster. */
  const verify = (claims: Claims): Verification | Promise<Verification> => {
    const text = tokenOf(claims);
    return tokens.known(text) ?? tokens.verify(text, parseCompactJws(text)!, SOURCE);
  };
  /** Asks once and has the cluster answer. */
  const ask = async (claims: Claims, account: Account): Promise<Verification> => {
    const verification = verify(claims);
    await clock.advance(0);
    reviewer.last.answer(account);
    return verification;
  };
  /** Asks once; the cluster fails, and this comes of it. */
  const failOnce = async (claims: Claims, fault?: CallFault): Promise<unknown> => {
    const outcome = outcomeOf(() => verify(claims));
    await clock.advance(0);
    reviewer.last.fail(fault);
    return outcome;
  };
  const learn = (claims: Claims, account: Account = ROBOT) => ask(claims, account);
  const refuse = (claims: Claims) => ask(claims, undefined);
  /** Ends every review from this one on, those that begin meanwhile included. */
  const endFrom = async (first: number, end: (review: Pending) => void): Promise<void> => {
    for (let index = first; index < reviewer.reviews.length; index++) {
      end(reviewer.reviews[index]!);
      await clock.advance(0);
    }
  };
  const count = async (result: string): Promise<number> => {
    const metric = await registry.getSingleMetric('gatehouse_token_verifications_total')?.get();
    return metric?.values.find(({ labels }) => labels['result'] === result)?.value ?? 0;
  };
  return { clock, reviewer, keys, tokens, lines, claimsOf, verify, learn, refuse, failOnce, endFrom, count };
}

/** The identity, the fault, or the public answer of what was thrown. */
export async function outcomeOf(verify: () => Verification | Promise<Verification>): Promise<unknown> {
  try {
    const verification = await verify();
    return 'fault' in verification ? verification.fault : verification;
  } catch (error) {
    if (error instanceof StatusError) return error.answer;
    throw error;
  }
}
