import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Random } from '../random.ts';
import { parseAuthorization } from './authorization-header.ts';
import { callerAuthenticationFailed } from './refusals.ts';

/** What a caller of the webhook shows of itself. */
export interface CallerProof {
  readonly authorization: string | undefined;
  /** Whether the connection has proven a client certificate of the configured authority. */
  readonly hasClientCertificate: boolean;
}

export interface CallerAuthenticationOptions {
  /** Realm of the challenge. */
  readonly platform: string;
  /** `none`: everybody may ask. */
  readonly callerAuth: 'required' | 'none';
}

/** Throws `invalid_client` for a caller who may not ask. */
export type CallerAuthentication = (caller: CallerProof) => void;

/**
 * A client certificate or the configured bearer; with neither configured nobody is let in. Bearers are compared by keyed
 * digests of one length, in constant time.
 */
export function createCallerAuthentication(
  { platform, callerAuth }: CallerAuthenticationOptions,
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
  return ({ authorization, hasClientCertificate }) => {
    if (callerAuth === 'none' || hasClientCertificate || isBearer(authorization)) return;
    throw callerAuthenticationFailed(platform);
  };
}
