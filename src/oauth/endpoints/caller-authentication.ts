import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Logger } from '../../observability/logger.ts';
import type { Clock } from '../../runtime/clock.ts';
import { followFile } from '../../runtime/followed-file.ts';
import type { Random } from '../../runtime/random.ts';
import { parseCallerToken } from '../../runtime/text/caller-token.ts';
import type { ClientFault } from '../tokens/act.ts';
import { parseAuthorization } from './authorization-header.ts';

/** The credentials that a caller of the webhook sends. */
export interface CallerProof {
  readonly authorization: string | undefined;
  /**
   * The names in the verified client certificate of the connection, which was issued by a configured authority; empty without
   * one.
   */
  readonly certificateNames: readonly string[];
  /** Whether the client has sent a certificate, trusted or not. */
  readonly hasShownCertificate: boolean;
}

/** How a caller was authenticated. */
export type CallerMethod = 'certificate' | 'bearer' | 'anyone';

export interface CallerAuthenticationOptions {
  /** The realm of the challenge. */
  readonly platform: string;
  /** `none`: everybody may call the webhook. */
  readonly callerAuth: 'required' | 'none';
  /** The names of client certificates that may call the webhook, compared exactly. Empty: no certificate is accepted. */
  readonly clientNames: readonly string[];
}

/** Authenticates a caller: returns how, or why the caller is refused. */
export type CallerAuthentication = (
  caller: CallerProof,
) => { readonly caller: CallerMethod } | { readonly fault: ClientFault };

/**
 * Accepts a client certificate with a listed name, or the configured bearer token; if neither is configured, it accepts nobody.
 * Bearer tokens are compared by keyed digests of one length, in constant time.
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

/** The file with the bearer token that callers of the webhook must send. */
export interface CallerTokenFile {
  token(): string | undefined;
  /** Watches the file. If it cannot be used, the last valid token stays in use. Only a bug makes it throw. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Opens the file, which the configuration check has read before. If it has become unusable since, no bearer token is accepted until
 * the file is valid again.
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
