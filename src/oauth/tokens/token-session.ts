import type { User } from '../../users/user.ts';
import type { Client } from '../options.ts';

/** The facts of a sign-in, which every pair of tokens of its session shares. */
export interface TokenSession {
  readonly sid: string;
  readonly user: User;
  readonly client: Client;
  /** When the person signed in, in seconds. */
  readonly authTime: number;
  readonly scope?: string;
}

/** The data from which a pair of tokens is made, in addition to the session. An equal imprint gives the same pair, byte for byte. */
export interface Imprint {
  readonly generation: number;
  /** Seconds. */
  readonly issuedAt: number;
  readonly kid: string;
  readonly accessJti: string;
  readonly refreshJti: string;
}
