import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Logger } from '../../observability/logger.ts';
import type { Clock } from '../../runtime/clock.ts';
import { followFile } from '../../runtime/followed-file.ts';
import type { Random } from '../../runtime/random.ts';
import { parseCallerToken } from '../../runtime/text/parse.ts';
import type { ClientFault } from '../tokens/act.ts';
import { parseAuthorization } from './authorization-header.ts';

/** The credentials that a caller of the webhook shows. */
export interface CallerProof {
  readonly authorization: string | undefined;
  /**
   * Names in the client certificate that the connection has proven and a configured authority vouches for; empty
   * without one.
   */
  readonly certificateNames: readonly string[];
  /** Whether the connection has shown a client certificate, trusted or not. */
  readonly hasShownCertificate: boolean;
}

/** How a caller proved that they may ask. */
export type CallerMethod = 'certificate' | 'bearer' | 'anyone';

export interface CallerAuthenticationOptions {
  /** Realm of the challenge. */
  readonly platform: string;
  /** `none`: everybody may ask. */
  readonly callerAuth: 'required' | 'none';
  /**
   * The names in client certificates whose holders may ask, compared exactly. Empty: nobody is let in by certificate.
   */
  readonly clientNames: readonly string[];
}

/** How the caller proved that they may ask, or why they may not. */
export type CallerAuthentication = (
  caller: CallerProof,
) => { readonly caller: CallerMethod } | { readonly fault: ClientFault };

/**
 * Lets in a client certificate with a listed name, or the configured bearer; with neither configured it lets nobody in.
 * Bearers are compared by keyed digests of one length, in constant time.
 */
export function createCallerAuthentication(
  { callerAuth, clientNames }: Omit<CallerAuthenticationOptions, 'platform'>,
  parts: { readonly random: Random; callerToken(): string | undefined },
): CallerAuthentication {
  const digestKey = parts.random.bytes(32);
  const digest = (text: string): Buffer => createHmac('sha256', digestKey).update(text).digest();
  const isBearer = (authorization: string | undefined): boolean => {
    const credentials = parseAuthorization(authorization);
    const expected = parts.callerToken();
    if (credentials?.scheme !== 'bearer' || expected === undefined) return false;
    return timingSafeEqual(digest(credentials.text), digest(expected));
  };
  const listed = new Set(clientNames);
  return ({ authorization, certificateNames, hasShownCertificate }) => {
    if (certificateNames.some((name) => listed.has(name))) return { caller: 'certificate' };
    if (isBearer(authorization)) return { caller: 'bearer' };
    if (callerAuth === 'none') return { caller: 'anyone' };
    if (authorization !== undefined) return { fault: 'wrong_bearer' };
    return { fault: hasShownCertificate ? 'certificate_not_allowed' : 'no_credentials' };
  };
}

/** The bearer that callers of the webhook show, kept in a file. */
export interface CallerTokenFile {
  token(): string | undefined;
  /** Follows the file. If it cannot be used, the last good token stays in use. Only a bug makes it throw. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * The configuration check has read the file before. If the file went bad since, nobody is let in until it is good
 * again.
 */
export function createCallerTokenFile(
  path: string,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): CallerTokenFile {
  let token = parseCallerToken(readAtStart(path));
  const reload = async (): Promise<void> => {
    const text = await readFile(path, 'utf8').catch(() => undefined);
    const next = text === undefined ? undefined : parseCallerToken(text);
    if (next === undefined) logger.error({ path }, 'the caller token file cannot be used: the last good token stays');
    else if (next !== token) logger.info({ path }, 'the changed caller token is in use');
    token = next ?? token;
  };
  return { token: () => token, run: (signal) => followFile(path, reload, { clock, signal }) };
}

function readAtStart(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
