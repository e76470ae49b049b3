import { Counter, Gauge, type Registry } from 'prom-client';
import type { Clock } from '../runtime/clock.ts';
import type { SignInResult } from '../users/sign-in.ts';
import { type RotationRules, rotationDueAt } from './keys/key-plan.ts';
import type { StoredKey } from './keys/signing-key-data.ts';
import { OAUTH_ERROR_CODES } from './oauth-error.ts';
import { DEVICE_GRANT } from './options.ts';
import { CLIENT_FAULTS } from './tokens/act.ts';
import { TOKEN_FAULTS } from './tokens/identity.ts';

/** A counter by result. All of its series begin at 0, because Prometheus sees no increase of a series that begins at 1. */
function resultCounter(registry: Registry, texts: { name: string; help: string }, results: readonly string[]) {
  const counter = new Counter({ ...texts, labelNames: ['result'], registers: [registry] });
  for (const result of results) counter.inc({ result }, 0);
  return counter;
}

interface KeysToShow {
  keys(): readonly StoredKey[];
  readonly rotation: RotationRules;
}

/** Shows the states and ages of the signing keys, and when the next key is due; read at each scrape. */
export function registerKeyMetrics(registry: Registry, clock: Clock, { keys, rotation }: KeysToShow): void {
  new Gauge({
    name: 'gatehouse_signing_key_info',
    help: 'One for each signing key, by its state.',
    labelNames: ['kid', 'state'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { kid, state } of keys()) this.set({ kid, state }, 1);
    },
  });
  new Gauge({
    name: 'gatehouse_signing_key_age_seconds',
    help: 'How long each signing key has been in its state.',
    labelNames: ['kid'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { kid, sinceMs } of keys()) this.set({ kid }, Math.max(0, (clock.now() - sinceMs) / 1000));
    },
  });
  new Gauge({
    name: 'gatehouse_signing_key_rotation_due_seconds',
    help: 'Seconds until another signing key becomes active, negative if that is overdue; no value if only an operator rotates.',
    registers: [registry],
    collect() {
      const dueAt = rotationDueAt(keys(), rotation);
      if (dueAt === undefined) this.remove();
      else this.set((dueAt - clock.now()) / 1000);
    },
  });
}

/** Shows the store of sessions, in one series, because a process has one store. */
export const registerSessionStore = (registry: Registry, store: string): void =>
  new Gauge({
    name: 'gatehouse_session_store_info',
    help: 'One for the session store in use. With memory, a restart forgets which sessions were ended.',
    labelNames: ['store'],
    registers: [registry],
  }).set({ store }, 1);

export const createRotationFailures = (registry: Registry): Counter =>
  new Counter({
    name: 'gatehouse_signing_key_rotation_failures_total',
    help: 'Due changes of the signing keys that could not be stored; each is tried again.',
    registers: [registry],
  });

/**
 * Counts bearer tokens, and the calls of pages of ours with the session of a browser, by result. `absent` and `malformed` are counted where
 * the header is read.
 */
export const createVerificationCounter = (registry: Registry): Counter<'result'> =>
  resultCounter(registry, { name: 'gatehouse_token_verifications_total', help: 'Bearer tokens, by result.' }, [
    ...['ok', 'cached', 'absent', 'malformed', 'overloaded'],
    ...TOKEN_FAULTS,
    ...['page', 'page_ended'],
  ]);

export interface TokenMetrics {
  readonly requests: Counter<'grant_type' | 'result'>;
  readonly signIns: SignInCounter;
  readonly revocationRequests: Counter<'result'>;
  readonly introspections: Counter<'result'>;
  readonly deviceAuthorizations: Counter<'result'>;
  readonly revocations: Counter<'scope'>;
  readonly reuse: Counter;
}

/** The values of `grant_type`; `none` is a request that was refused before its grant type was known. */
const GRANT_TYPES = ['none', 'authorization_code', DEVICE_GRANT, 'password', 'refresh_token'];

/** Counts sign-ins: passwords by where they were entered, and codes that a browser got without a password. */
type SignInCounter = Counter<'by' | 'result'>;

/** Where a password is entered: at the token endpoint, or on the sign-in page. */
export type PasswordWay = 'password_grant' | 'page';

function createSignInCounter(registry: Registry): SignInCounter {
  const counter = new Counter({
    name: 'gatehouse_sign_ins_total',
    help: 'Sign-ins, by way (password_grant, page, session: a browser that was signed in) and result.',
    labelNames: ['by', 'result'],
    registers: [registry],
  });
  const results: readonly SignInResult['kind'][] = ['ok', 'refused', 'throttled', 'busy'];
  const ways: readonly PasswordWay[] = ['password_grant', 'page'];
  for (const by of ways) for (const result of results) counter.inc({ by, result }, 0);
  counter.inc({ by: 'session', result: 'ok' }, 0);
  return counter;
}

export function createTokenMetrics(registry: Registry): TokenMetrics {
  const registers = [registry];
  const requests = new Counter({
    name: 'gatehouse_token_requests_total',
    help: 'Token requests, by grant type and result (ok or the OAuth error).',
    labelNames: ['grant_type', 'result'],
    registers,
  });
  for (const grant_type of GRANT_TYPES)
    for (const result of ['ok', ...OAUTH_ERROR_CODES]) requests.inc({ grant_type, result }, 0);
  const revocations = new Counter({
    name: 'gatehouse_token_revocations_total',
    help: 'Ended sessions (session), and users whose sessions were all ended (user).',
    labelNames: ['scope'],
    registers,
  });
  for (const scope of ['session', 'user']) revocations.inc({ scope }, 0);
  return {
    requests,
    signIns: createSignInCounter(registry),
    revocationRequests: resultCounter(
      registry,
      {
        name: 'gatehouse_revocation_requests_total',
        help: 'Revocation requests, by result (ended, nothing_to_end or the OAuth error).',
      },
      ['ended', 'nothing_to_end', ...OAUTH_ERROR_CODES],
    ),
    introspections: resultCounter(
      registry,
      {
        name: 'gatehouse_introspection_requests_total',
        help: 'Introspection requests, by result (active, inactive or the OAuth error).',
      },
      ['active', 'inactive', ...OAUTH_ERROR_CODES],
    ),
    deviceAuthorizations: resultCounter(
      registry,
      {
        name: 'gatehouse_device_authorizations_total',
        help: 'Requests for a device code, by result (ok or the OAuth error).',
      },
      ['ok', ...OAUTH_ERROR_CODES],
    ),
    revocations,
    reuse: new Counter({
      name: 'gatehouse_refresh_reuse_total',
      help: 'Refresh tokens that were used again after their replay window.',
      registers,
    }),
  };
}

/** Counts refused clients, and refused callers of the TokenReview webhook. */
export function createClientFailureCounter(registry: Registry): Counter<'reason'> {
  const counter = new Counter({
    name: 'gatehouse_client_authentication_failures_total',
    help: 'OAuth clients and callers of the TokenReview webhook that were refused, by reason.',
    labelNames: ['reason'],
    registers: [registry],
  });
  // Each series starts at 0: Prometheus sees no increase of a series that begins at 1.
  for (const reason of CLIENT_FAULTS) counter.inc({ reason }, 0);
  return counter;
}

/** Counts token reviews by result. No label value comes from a token. */
export const createReviewCounter = (registry: Registry): Counter<'result'> =>
  resultCounter(registry, { name: 'gatehouse_token_reviews_total', help: 'Token reviews, by result.' }, [
    ...['authenticated', 'other_audience'],
    ...TOKEN_FAULTS,
    ...OAUTH_ERROR_CODES,
  ]);
