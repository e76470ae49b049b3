import type { Origin } from '../tokens/act.ts';

/** What was wrong with the last attempt on the sign-in page. Each reason for a refused password has the same word (N-14). */
export type SignInProblem = 'incomplete' | 'incorrect' | 'throttled' | 'busy';

/** The sign-in page. */
export interface SignInPage {
  readonly kind: 'sign-in';
  /** The sealed request, which the form sends back. */
  readonly request: string;
  readonly clientId: string;
  /** What the field of the name begins with. */
  readonly username: string;
  readonly problem?: SignInProblem;
  /** Whole seconds, with the problems `throttled` and `busy`. */
  readonly retryAfterSeconds?: number;
  /** Where the browser goes after the sign-in: `form-action` has to allow it. */
  readonly redirectURI: string;
  /** BCP 47, in the client's order. */
  readonly locales: readonly string[];
}

/** Why a person gets a page instead of a redirect: nobody knows yet whether the redirect address is the client's. */
export type PageFault = 'malformed' | 'unknown_client' | 'unknown_redirect' | 'ambiguous';

/** What the endpoints for browsers answer with. */
export type BrowserAnswer =
  | SignInPage
  /** A redirect to the client with its parameters, or to ourselves. */
  | { readonly kind: 'redirect'; readonly location: string }
  /** A form that the person posts to the client (OAuth 2.0 Form Post Response Mode). */
  | { readonly kind: 'post'; readonly action: string; readonly fields: Readonly<Record<string, string>> }
  /** A page that says what is wrong; `again` is a path that begins anew. */
  | { readonly kind: 'fault'; readonly fault: PageFault | 'expired' | 'lost_cookie'; readonly again?: string };

/** The form of the sign-in page. */
export interface SignInRequest extends Origin {
  readonly body: Buffer;
  /** The value of the browser's cookie; `undefined` without one. */
  readonly browser: string | undefined;
  /** The caller's full address, for the login records that the user may read. */
  readonly address: string;
  readonly userAgent: string | undefined;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

/** `/oauth/authorize` and the form of its page. */
export interface AuthorizationEndpoint {
  /** `browser`: the value of the browser's cookie, which the answer sets. */
  authorize(query: string, browser: string): Promise<BrowserAnswer>;
  /** Throws an `OAuthError` for a malformed form, and while keys, sessions or users are missing. */
  signIn(request: SignInRequest): Promise<BrowserAnswer>;
}
