import type { IncomingMessage } from 'node:http';
import type { PageCallers } from '../../oauth/authorize/page-callers.ts';
import type { Identity } from '../../oauth/tokens/identity.ts';
import type { Random } from '../../runtime/random.ts';
import { createBrowserCookies } from '../sign-in/browser-cookie.ts';
import { createPageRequestTest } from './page-request.ts';

/**
 * Who calls, if a page of ours sends the request with the cookie of a session. `ended`: the session no longer counts. `undefined`: it is
 * another request, whose cookies mean nothing.
 */
export type PageAuthentication = (request: IncomingMessage) => Identity | 'ended' | undefined;

interface PageAuthenticationParts {
  readonly platform: string;
  readonly issuer: string;
  readonly callers: PageCallers;
  readonly random: Random;
}

/** The session of a person's browser, in place of a bearer: no script of the page ever has a token (W-01). */
export function createPageAuthentication(parts: PageAuthenticationParts): PageAuthentication {
  const { platform, issuer, callers, random } = parts;
  const isOfPage = createPageRequestTest(platform, { issuer });
  const { session } = createBrowserCookies({ platform, issuer }, random);
  return (request) => {
    const cookie = isOfPage(request) ? session.read(request) : undefined;
    return cookie === undefined ? undefined : (callers.of(cookie) ?? 'ended');
  };
}
