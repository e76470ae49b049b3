import type { FirstPasswordResult } from '../../users/first-passwords.ts';
import type { Origin } from '../tokens/act.ts';

/** What was wrong with the last attempt on the sign-in page. Each reason for a refused password has the same word (N-14). */
export type SignInProblem = 'incomplete' | 'incorrect' | 'throttled' | 'busy';

/** What every page with a form has. */
interface FormPage {
  /** The sealed state of the page, which the form sends back. */
  readonly request: string;
  /** Where the browser goes in the end: `form-action` has to allow it. Absent if it stays here. */
  readonly redirectURI?: string;
  /** BCP 47, in the client's order. */
  readonly locales: readonly string[];
}

/** A page on the way to a client. */
interface ClientPage extends FormPage {
  readonly clientId: string;
  readonly redirectURI: string;
}

/** The sign-in page. Without a client it leads to a page of ours. */
export interface SignInPage extends FormPage, Partial<Pick<ClientPage, 'clientId'>> {
  readonly kind: 'sign-in';
  /** What the field of the name begins with. */
  readonly username: string;
  /** Who is signed in here, although the password is asked for. */
  readonly signedIn?: string;
  readonly problem?: SignInProblem;
  /** Whole seconds, with the problems `throttled` and `busy`. */
  readonly retryAfterSeconds?: number;
}

/** Why a new password was not stored: it was typed in two ways, it breaks rules, or there are too many requests. */
export type NewPasswordProblem =
  | { readonly kind: 'different' }
  | Extract<FirstPasswordResult, { kind: 'refused' | 'busy' }>;

/** Asks a person who has proven a first password for one of their own (B-26). */
export interface NewPasswordPage extends FormPage, Partial<Pick<ClientPage, 'clientId'>> {
  readonly kind: 'new-password';
  readonly signedIn: string;
  readonly problem?: NewPasswordProblem;
}

/** Asks a signed-in person whether the client may have the scopes. */
export interface ConsentPage extends ClientPage {
  readonly kind: 'consent';
  readonly signedIn: string;
  readonly scopes: readonly string[];
  /** A path that begins anew with another account; absent if the client expects this one. */
  readonly otherAccount?: string;
}

/** Asks a person whether to sign out. */
export interface SignOutPage extends FormPage {
  readonly kind: 'sign-out';
  readonly signedIn: string;
}

/** Why a typed code of a device was not taken. */
export type DeviceCodeProblem = 'malformed' | 'unknown' | 'expired' | 'throttled' | 'busy';

/** Asks a signed-in person for the code that a device shows. */
export interface DeviceCodePage extends FormPage {
  readonly kind: 'device-code';
  readonly signedIn: string;
  /** What the field begins with. */
  readonly userCode: string;
  readonly problem?: DeviceCodeProblem;
  /** Whole seconds, with the problems `throttled` and `busy`. */
  readonly retryAfterSeconds?: number;
  /** A path that begins anew with another account. */
  readonly otherAccount: string;
}

/** Asks a signed-in person whether a device may sign in. */
export interface DevicePage extends FormPage {
  readonly kind: 'device';
  readonly signedIn: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** The code as the device shows it, with the dash. */
  readonly userCode: string;
  /** The address that asked, and for how many whole minutes it has been waiting. */
  readonly address: string;
  readonly minutes: number;
  readonly otherAccount: string;
}

/** Says that the decision about a device is made. */
interface DeviceDonePage {
  readonly kind: 'device-done';
  readonly isAllowed: boolean;
  readonly clientId: string;
  readonly locales: readonly string[];
}

/** Why a person gets a page instead of a redirect: nobody knows yet whether the redirect address is the client's. */
export type PageFault = 'malformed' | 'unknown_client' | 'unknown_redirect' | 'ambiguous';

/** What the endpoints for browsers answer with. */
export type BrowserAnswer = (
  | SignInPage
  | NewPasswordPage
  | ConsentPage
  | SignOutPage
  | DeviceCodePage
  | DevicePage
  | DeviceDonePage
  | { readonly kind: 'signed-out'; readonly locales: readonly string[] }
  /** A redirect to the client with its parameters, or to ourselves. */
  | { readonly kind: 'redirect'; readonly location: string }
  /** A form that the person posts to the client (OAuth 2.0 Form Post Response Mode). */
  | { readonly kind: 'post'; readonly action: string; readonly fields: Readonly<Record<string, string>> }
  /** A page that says what is wrong; `again` is a path that begins anew. */
  | {
      readonly kind: 'fault';
      readonly fault: PageFault | 'expired' | 'lost_cookie' | 'device_over';
      readonly again?: string;
    }
) & {
  /** The new value of the session cookie; `''` removes it. Absent: it stays as it is. */
  readonly session?: string;
};

/** The values of our cookies; `undefined` without one. */
export interface BrowserCookies {
  /** Ties a page to the browser that got it. */
  readonly browser: string | undefined;
  /** The sealed session of a signed-in person. */
  readonly session: string | undefined;
}

/** A request of a browser by its address alone. */
export interface BrowserVisit extends Origin, BrowserCookies {
  readonly query: string;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

/** A form of one of our pages. */
export interface BrowserForm extends Origin, BrowserCookies {
  readonly body: Buffer;
  /** The caller's full address, for the login records that the user may read. */
  readonly address: string;
  readonly userAgent: string | undefined;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

/**
 * What browsers reach: `/oauth/authorize`, the forms of its pages, and the sign-out. Each method throws an `OAuthError` for a
 * malformed form, and while keys, sessions or users are missing.
 */
export interface BrowserEndpoints {
  /** `browser` is the value of the browser's cookie. If the browser has none yet, it is new, and a page with a form sets it. */
  authorize(visit: BrowserVisit & { readonly browser: string }): Promise<BrowserAnswer>;
  /** The sign-in for the page of this server. Absent without that page. */
  visit?(visit: BrowserVisit & { readonly browser: string }): Promise<BrowserAnswer>;
  /** The forms of the pages. */
  signIn(form: BrowserForm): Promise<BrowserAnswer>;
  newPassword(form: BrowserForm): Promise<BrowserAnswer>;
  consent(form: BrowserForm): Promise<BrowserAnswer>;
  /** RP-initiated logout (OpenID Connect RP-Initiated Logout 1.0 2). */
  endSession(visit: BrowserVisit & { readonly browser: string }): Promise<BrowserAnswer>;
  signOut(form: BrowserForm): Promise<BrowserAnswer>;
}

/** The pages on which people allow devices. */
export interface DevicePages {
  /** The page for the code. */
  visit(visit: BrowserVisit & { readonly browser: string }): Promise<BrowserAnswer>;
  /** The form with the code. It may wait for seconds until a device asks with this code. */
  code(form: BrowserForm): Promise<BrowserAnswer>;
  decide(form: BrowserForm): Promise<BrowserAnswer>;
}
