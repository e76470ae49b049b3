import type { Clock } from '../../../runtime/clock.ts';
import { type DeviceStart, toDeviceStart } from '../device/device-start.ts';
import { LoginError, NoAnswerError } from '../login-error.ts';
import { isPrintable } from '../printable.ts';
import { type SavedSession, type TokenPair, usernameIn, withPair } from '../session.ts';
import type { ServerAnswer, ServerCalls } from './server-calls.ts';

interface TokenClientParts {
  readonly calls: ServerCalls;
  readonly clock: Clock;
  readonly server: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** A code that the browser has brought, and what it was requested with. */
interface Redemption {
  readonly code: string;
  readonly codeVerifier: string;
  readonly redirectURI: string;
}

/** The errors of RFC 8628 3.5. */
const DEVICE_ERRORS = ['authorization_pending', 'slow_down', 'access_denied', 'expired_token'] as const;

export type DeviceError = (typeof DEVICE_ERRORS)[number];

/**
 * Signs in, refreshes and signs out (docs/contract/tokens.md). Every method throws a `LoginError` when the server cannot
 * be reached or its answer is unexpected; a refusal is `undefined` or `false`.
 */
export class TokenClient {
  readonly #parts: TokenClientParts;

  constructor(parts: TokenClientParts) {
    this.#parts = parts;
  }

  /** `undefined`: wrong name or password. */
  signIn(username: string, password: string): Promise<SavedSession | undefined> {
    return this.#token(username, { grant_type: 'password', username, password });
  }

  /** The authorization code grant (RFC 6749 4.1.3). `undefined`: the code is not valid. */
  redeem({ code, codeVerifier, redirectURI }: Redemption): Promise<SavedSession | undefined> {
    const request = { code, code_verifier: codeVerifier, redirect_uri: redirectURI };
    return this.#token(undefined, { grant_type: 'authorization_code', ...request });
  }

  /** Asks for a code that a person types on another device (RFC 8628 3.1). */
  async startDevice(): Promise<DeviceStart> {
    const answer = await this.#parts.calls.call({ path: '/oauth/device_authorization', form: this.#client() });
    const start = answer.status === 200 ? toDeviceStart(answer.body) : undefined;
    if (start === undefined) throw this.#unexpected(answer);
    return start;
  }

  /** Asks once for the tokens of a device (RFC 8628 3.4). */
  async pollDevice(deviceCode: string): Promise<SavedSession | { readonly error: DeviceError }> {
    const form = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: deviceCode };
    const asked = await this.#ask(form);
    const { status, body } = asked.answer;
    const error = DEVICE_ERRORS.find((known) => known === body['error']);
    if (error) return { error };
    if (status === 400 && body['error'] === 'invalid_grant') return { error: 'expired_token' };
    // The server is busy, and the code lives on.
    if (status === 429 || status === 503) return { error: 'slow_down' };
    return this.#session(undefined, asked);
  }

  /** `undefined`: the session has ended. Sends the request again when the first answer is lost: the server then repeats the same pair. */
  async refresh({ username, refreshToken }: SavedSession): Promise<SavedSession | undefined> {
    const form = { grant_type: 'refresh_token', refresh_token: refreshToken };
    return this.#token(username, form).catch((error: unknown) => {
      if (error instanceof NoAnswerError) return this.#token(username, form);
      throw error;
    });
  }

  /** The user's e-mail address; `undefined` when the server tells none. */
  async emailOf({ accessToken: bearer }: SavedSession): Promise<string | undefined> {
    const { body } = await this.#parts.calls.call({ path: '/oauth/userinfo', bearer });
    return typeof body['email'] === 'string' ? body['email'] : undefined;
  }

  /** Whether the access token is still valid. */
  async isGood({ accessToken: bearer }: SavedSession): Promise<boolean> {
    const answer = await this.#parts.calls.call({ path: '/oauth/userinfo', bearer });
    if (answer.status !== 200 && answer.status !== 401) throw this.#unexpected(answer);
    return answer.status === 200;
  }

  /** Ends the session, whether or not its access token is still valid (RFC 7009). */
  async revoke({ refreshToken: token }: SavedSession): Promise<void> {
    const answer = await this.#parts.calls.call({ path: '/oauth/revoke', form: { ...this.#client(), token } });
    if (answer.status !== 200) throw this.#unexpected(answer);
  }

  /** Ends every session of the user. `false`: the access token is no longer valid. */
  async signOutEverywhere({ accessToken: bearer }: SavedSession): Promise<boolean> {
    const answer = await this.#parts.calls.call({ path: '/oauth/logout', form: { all: 'true' }, bearer });
    if (answer.status !== 200 && answer.status !== 401) throw this.#unexpected(answer);
    return answer.status === 200;
  }

  async #token(
    username: string | undefined,
    form: Readonly<Record<string, string>>,
  ): Promise<SavedSession | undefined> {
    const asked = await this.#ask(form);
    const { status, body } = asked.answer;
    return status === 400 && body['error'] === 'invalid_grant' ? undefined : this.#session(username, asked);
  }

  async #ask(form: Readonly<Record<string, string>>): Promise<Asked> {
    const askedAt = this.#parts.clock.now();
    const answer = await this.#parts.calls.call({ path: '/oauth/token', form: { ...this.#client(), ...form } });
    return { answer, askedAt };
  }

  /** Without the name that was typed, the session has the one in the token. */
  #session(typed: string | undefined, { answer, askedAt }: Asked): SavedSession {
    const { server, clientId } = this.#parts;
    const pair = answer.status === 200 ? toPair(answer) : undefined;
    const username = typed ?? (pair && usernameIn(pair.accessToken));
    if (pair === undefined || username === undefined) throw this.#unexpected(answer);
    return withPair({ server, clientId, username }, pair, askedAt);
  }

  #client() {
    return { client_id: this.#parts.clientId, client_secret: this.#parts.clientSecret };
  }

  #unexpected({ status, body, retryAfterSeconds }: ServerAnswer): LoginError {
    const { server, clientId } = this.#parts;
    const later = retryAfterSeconds === undefined ? 'later' : `in ${retryAfterSeconds} s`;
    if (body['error'] === 'invalid_client')
      return new LoginError(
        `${server} does not take the client "${clientId}" with this secret: see --client-id and --client-secret-file`,
      );
    if (body['error'] === 'unauthorized_client')
      return new LoginError(`${server} does not let the client "${clientId}" sign people in: see --client-id`);
    if (status === 429) return new LoginError(`too many attempts at ${server}, right or wrong: try again ${later}`);
    // Without `Retry-After`, trying again does not help: the description says what has to be changed.
    if (status === 503 && retryAfterSeconds === undefined && isPrintable(body['error_description']))
      return new LoginError(`${server}: ${body['error_description']}`);
    if (status === 503) return new LoginError(`${server} cannot answer now: try again ${later}`);
    return new LoginError(`${server} answers ${status} to a sign-in: is it the address of Gatehouse?`);
  }
}

interface Asked {
  readonly answer: ServerAnswer;
  readonly askedAt: number;
}

function toPair({ body }: ServerAnswer): TokenPair | undefined {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: lifetimeSeconds } = body;
  if (!isToken(accessToken) || !isToken(refreshToken) || !isLifetime(lifetimeSeconds)) return undefined;
  return { accessToken, refreshToken, lifetimeSeconds };
}

/** The characters of a bearer token (RFC 6750 2.1), which fit in a header and on a terminal. */
const isToken = (value: unknown): value is string => typeof value === 'string' && /^[\w.~+/-]+=*$/.test(value);

/** A lifetime of at most a year, in seconds: a time beyond the range of `Date` could not be given to a client. */
const isLifetime = (value: unknown): value is number => typeof value === 'number' && value > 0 && value <= 31_536_000;
