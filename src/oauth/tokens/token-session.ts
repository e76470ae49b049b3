import type { User } from '../../users/user.ts';
import type { Client } from '../options.ts';

/** What a sign-in has set, which is the same for every pair of tokens of its session. */
export interface TokenSession {
  readonly sid: string;
  readonly user: User;
  readonly client: Client;
  /** When the person signed in, in seconds. */
  readonly authTime: number;
  readonly scope?: string;
}

/** What a pair of tokens is made from besides the session: the same imprint gives the same pair, byte for byte. */
export interface Imprint {
  readonly generation: number;
  /** Seconds. */
  readonly issuedAt: number;
  readonly kid: string;
  readonly accessJti: string;
  readonly refreshJti: string;
}
