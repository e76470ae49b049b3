import type { CallerAuthenticationOptions } from '../../../src/oauth/endpoints/caller-authentication.ts';
import { createTokenReviewWebhook, type TokenReviewWebhookParts } from '../../../src/oauth/endpoints/token-review.ts';
import type { TokenFault } from '../../../src/oauth/tokens/identity.ts';
import { systemRandom } from '../../../src/runtime/random.ts';
import { newTestServer, signInAlice, type TestServer } from '../../unit/oauth/test-server.ts';
import { type AppUnderTest, startApp } from './app-under-test.ts';

export const CALLER = 'made-up-caller-token';
export const V1 = 'authentication.k8s.io/v1';

interface ReviewAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** The webhook over real HTTP, in front of a whole authorization server. */
export interface ReviewUnderTest {
  readonly app: AppUnderTest;
  readonly oauth: TestServer;
  /** A good access token of alice. */
  readonly token: string;
  /** How often a token was verified. */
  verified(): number;
  /** As the API server sends it, with the caller's bearer; `init` replaces what it names. */
  post(body: unknown, init?: RequestInit & { query?: string }): Promise<ReviewAnswer>;
  /** The answer's text for this token. */
  review(token: string, spec?: object): Promise<string>;
}

export interface ReviewChange extends Partial<Omit<TokenReviewWebhookParts, 'verifier'>> {
  /** Why a token is found bad before it is verified. */
  fault?(text: string): TokenFault | undefined;
}

export async function startReview(
  { fault, ...change }: ReviewChange = {},
  options: Partial<CallerAuthenticationOptions> = {},
): Promise<ReviewUnderTest> {
  const oauth = await newTestServer();
  const { access_token: token } = await signInAlice(oauth);
  let count = 0;
  const inspect: TestServer['verifier']['inspect'] = (text) => {
    count++;
    const found = fault?.(text);
    return found ? { fault: found } : oauth.verifier.inspect(text);
  };
  const tokenReviews = createTokenReviewWebhook(
    { platform: 'gatehouse', callerAuth: 'required', clientNames: [], ...options },
    {
      ...oauth,
      verifier: { inspect },
      callerToken: () => CALLER,
      random: systemRandom,
      ...change,
    },
  );
  const app = await startApp({ tokenReviews });
  const post: ReviewUnderTest['post'] = async (body, { query = '?timeout=30s', ...init } = {}) => {
    const answer = await fetch(`${app.url}/oauth/authenticate${query}`, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...init,
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${CALLER}`, ...init.headers },
    });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  const review = async (text: string, spec: object = {}): Promise<string> =>
    (await post({ apiVersion: V1, kind: 'TokenReview', spec: { token: text, ...spec } })).text;
  return { app, oauth, token, verified: () => count, post, review };
}

/** Runs with a webhook of its own, so that what the test breaks stays with it. */
export async function withOwn(use: (own: ReviewUnderTest) => Promise<void>, ...change: Parameters<typeof startReview>) {
  const own = await startReview(...change);
  try {
    await use(own);
  } finally {
    await own.app.stop();
  }
}
