import type { PageFault } from './authorization-request.ts';

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

/** What the endpoints for browsers answer with. */
export type BrowserAnswer =
  | SignInPage
  /** A redirect to the client with its parameters, or to ourselves. */
  | { readonly kind: 'redirect'; readonly location: string }
  /** A form that the person posts to the client (OAuth 2.0 Form Post Response Mode). */
  | { readonly kind: 'post'; readonly action: string; readonly fields: Readonly<Record<string, string>> }
  /** A page that says what is wrong; `again` is a path that begins anew. */
  | { readonly kind: 'fault'; readonly fault: PageFault | 'expired' | 'lost_cookie'; readonly again?: string };
