import type { OAuthOptions } from '../options.ts';
import { digestOf } from './authorization-code.ts';
import type { AuthorizationRequest } from './authorization-request.ts';
import type { BrowserAnswer } from './browser-answer.ts';
import { isRegistered } from './redirect-uris.ts';
import type { SealedValues } from './sealed-values.ts';
import { toTarget } from './to-target.ts';

/** An authorization request on its way through a page, and the browser that has the page. */
export interface PendingRequest {
  readonly request: AuthorizationRequest;
  /** `digestOf` the value of the browser's cookie. */
  readonly browser: string;
  readonly locales: readonly string[];
  /** Whether the client wants the person to be asked, also if it was before (`prompt=consent`). */
  readonly asksConsent: boolean;
  /** Whether the client wants a password, also if somebody is signed in (`prompt=login` or `select_account`). */
  readonly asksPassword: boolean;
  readonly maxAgeSeconds?: number;
  readonly loginHint?: string;
  /** The user whom the client expects, by an ID token of ours. */
  readonly expectedUser?: string;
  /** The browser session of the person on whose consent page this is. */
  readonly sid?: string;
}

export type PendingRequests = SealedValues<PendingRequest>;

/** Enough to look up a password. The page then has to be asked for again. */
export const PAGE_SECONDS = 600;

/** The request of a page; a `BrowserAnswer` if the person has to begin again. */
type CheckedPending = { readonly pending: PendingRequest } | { readonly again: BrowserAnswer };

/** Opens what the form of a page sent. */
export const openPending = (
  sealed: string,
  browser: string | undefined,
  { requests, options }: { readonly requests: Pick<PendingRequests, 'open'>; readonly options: OAuthOptions },
): CheckedPending => checkPending(requests.open(sealed), browser, options);

/** Checks that the page belongs to this browser and its request may still be answered. */
export function checkPending(
  pending: PendingRequest | undefined,
  browser: string | undefined,
  options: OAuthOptions,
): CheckedPending {
  if (!pending || !isStillGood(pending.request, options)) return { again: EXPIRED };
  if (browser === undefined || digestOf(browser) !== pending.browser)
    return {
      again: mayBeginAgain(pending) ? { kind: 'fault', fault: 'lost_cookie', again: toTarget(pending) } : EXPIRED,
    };
  return { pending };
}

const EXPIRED = { kind: 'fault', fault: 'expired' } as const;

/** The ID token that names the expected user is not kept. Without it another person could go on, so the client has to begin again (B-13). */
const mayBeginAgain = ({ expectedUser }: PendingRequest): boolean => expectedUser === undefined;

/** Sends the browser back to the beginning of the request. */
export const beginAgain = (pending: PendingRequest): BrowserAnswer =>
  mayBeginAgain(pending) ? { kind: 'redirect', location: toTarget(pending) } : EXPIRED;

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
