import type { OAuthOptions } from '../options.ts';
import { digestOf } from './authorization-code.ts';
import type { AuthorizationRequest } from './authorization-request.ts';
import type { BrowserAnswer } from './browser-answer.ts';
import type { SignInWay } from './code-issue.ts';
import { isRegistered } from './redirect-uris.ts';
import type { SealedValues } from './sealed-values.ts';
import { toTarget } from './to-target.ts';

/** A page, and the browser that has it. */
interface PendingPage {
  /** `digestOf` the value of the browser's cookie. */
  readonly browser: string;
  readonly locales: readonly string[];
}

/** A sign-in that goes on to a page of ours instead of a client. */
export interface PendingVisit extends PendingPage {
  /** The path of that page, with its query. */
  readonly visit: string;
}

/** An authorization request on its way through a page, and the browser that has the page. */
export interface PendingRequest extends PendingPage {
  readonly request: AuthorizationRequest;
  /** Whether the client wants the person to agree again (`prompt=consent`). */
  readonly asksConsent: boolean;
  /** Whether the client wants a password even if somebody is signed in (`prompt=login` or `select_account`). */
  readonly asksPassword: boolean;
  readonly maxAgeSeconds?: number;
  readonly loginHint?: string;
  /** The user that the client expects: it sent an ID token of ours with this name. */
  readonly expectedUser?: string;
  /** The browser session of the person on whose consent page this is. */
  readonly sid?: string;
  /** How that person signed in. */
  readonly by?: SignInWay;
}

/** What a sign-in goes on to. */
export type PendingSignIn = PendingRequest | PendingVisit;

export type PendingRequests = SealedValues<PendingSignIn>;

/** The client of the request, and the address that its answer goes to; neither if the sign-in goes on to a page of ours. */
export const clientOf = (pending: PendingSignIn): Partial<Pick<AuthorizationRequest, 'clientId' | 'redirectURI'>> =>
  'visit' in pending ? {} : { clientId: pending.request.clientId, redirectURI: pending.request.redirectURI };

/** The life of a page: enough to look up a password. */
export const PAGE_SECONDS = 600;

/** The request of a page; a `BrowserAnswer` if the person has to begin again. */
type CheckedPending = { readonly pending: PendingSignIn } | { readonly again: BrowserAnswer };

/** Opens what the form of a page sent. */
export const openPending = (
  sealed: string,
  browser: string | undefined,
  { requests, options }: { readonly requests: Pick<PendingRequests, 'open'>; readonly options: OAuthOptions },
): CheckedPending => checkPending(requests.open(sealed), browser, options);

/** Checks that the page belongs to this browser and its request may still be answered. */
export function checkPending(
  pending: PendingSignIn | undefined,
  browser: string | undefined,
  options: OAuthOptions,
): CheckedPending {
  if (!pending || !('visit' in pending || isStillGood(pending.request, options))) return { again: EXPIRED };
  if (browser === undefined || digestOf(browser) !== pending.browser)
    return {
      again: mayBeginAgain(pending) ? { kind: 'fault', fault: 'lost_cookie', again: targetOf(pending) } : EXPIRED,
    };
  return { pending };
}

const EXPIRED = { kind: 'fault', fault: 'expired' } as const;

/**
 * The ID token that names the expected user is not kept. Without it another person could go on, so the client has to begin again
 * (B-13).
 */
const mayBeginAgain = (pending: PendingSignIn): boolean => 'visit' in pending || pending.expectedUser === undefined;

/** Where the sign-in can begin again. */
const targetOf = (pending: PendingSignIn): string => ('visit' in pending ? pending.visit : toTarget(pending));

/** Sends the browser back to the beginning of the request. */
export const beginAgain = (pending: PendingSignIn): BrowserAnswer =>
  mayBeginAgain(pending) ? { kind: 'redirect', location: targetOf(pending) } : EXPIRED;

/** Another replica may have made the page, with an older configuration. */
function isStillGood(
  { clientId, redirectURI, codeChallenge }: AuthorizationRequest,
  { clients }: OAuthOptions,
): boolean {
  const client = clients.find(({ name }) => name === clientId);
  return (
    client !== undefined &&
    isRegistered(client.redirectURIs, redirectURI) &&
    client.grantTypes.includes('authorization_code') &&
    client.grantMethod !== 'deny' &&
    (codeChallenge !== undefined || !client.public)
  );
}
