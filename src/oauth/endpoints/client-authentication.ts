import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Counter } from 'prom-client';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { FormRequest } from '../authorization-server.ts';
import type { ClientSecrets } from '../client-secrets.ts';
import type { Client, OAuthOptions } from '../options.ts';
import type { Act, ClientFault } from '../tokens/act.ts';
import { parseAuthorization, parseBasic } from './authorization-header.ts';
import { ClientThrottle } from './client-throttle.ts';
import { type Form, parameter } from './form.ts';
import { clientAuthenticationFailed, invalidRequest, notAvailable, throttled } from './refusals.ts';

/**
 * Authenticates the client that sends a form, and records it in the act. Throws `invalid_client` (RFC 6749 2.3), or
 * `temporarily_unavailable` after too many failures.
 */
export interface ClientAuthentication {
  authenticate(form: Form, request: Pick<FormRequest, 'authorization' | 'source'>, act: Act): Client;
}

export interface ClientAuthenticationParts {
  readonly clock: Clock;
  readonly random: Random;
  /** Counts refused clients, by reason. */
  readonly clientFailures: Counter<'reason'>;
  readonly clientSecrets: Pick<ClientSecrets, 'secretOf' | 'fault'>;
}

interface Proof {
  readonly id: string | undefined;
  readonly secret: string | undefined;
}

/**
 * The client with the given id, and what is wrong with its credentials. The client is absent if no client has that id.
 */
interface Judgement {
  readonly client?: Client;
  readonly fault?: ClientFault;
}

/** Checks credentials against the configured clients. The check does the same work for every id, known or not. */
type Compare = (proof: Proof) => Judgement;

/**
 * Client authentication with `client_secret_basic` and `client_secret_post`. Secrets are compared by keyed digests of one length, in
 * constant time; a client that does not exist costs the same compare as one that does (N-10). The throttle is checked after the
 * compare, so that a 429 takes the same time for a right and a wrong secret.
 */
export function createClientAuthentication(
  options: OAuthOptions,
  parts: ClientAuthenticationParts,
): ClientAuthentication {
  const { secretOf } = parts.clientSecrets;
  const compare = createCompare(options, parts);
  const throttle = new ClientThrottle(options.clientThrottle, parts);
  const refuse = (fault: ClientFault, act: Act): void => {
    act.refusesClient(fault);
    parts.clientFailures.inc({ reason: fault });
  };
  return {
    authenticate: (form, { authorization, source }, act) => {
      const unread = parts.clientSecrets.fault();
      if (unread !== undefined) throw notAvailable(new Error(unread));
      const proof = readProof(form, authorization);
      const { client, fault }: Judgement = proof === 'unfit' ? { fault: 'unfit_credentials' } : compare(proof);
      act.involves({ clientId: client?.name });
      const attempt = guessOf(proof, client, { source, secret: client && secretOf(client) });
      const waitMs = attempt ? throttle.waitMs(attempt) : 0;
      const isProven = client !== undefined && fault === undefined;
      if (waitMs > 0 && !(attempt && isProven && isLong(secretOf(client)) && throttle.isKnownGood(attempt))) {
        refuse('throttled', act);
        throw throttled('tooManyClientFailures', Math.ceil(waitMs / 1000));
      }
      if (client && !fault) {
        if (attempt) throttle.succeeded(attempt);
        return client;
      }
      if (attempt) throttle.failed(attempt);
      refuse(fault ?? 'unknown_client', act);
      throw clientAuthenticationFailed(options.platform);
    },
  };
}

/**
 * A secret of at least this many characters cannot be guessed. A shorter secret, which causes a warning at start, is not accepted
 * while its client is throttled: otherwise an attacker could go on testing guesses. As a consequence, anybody at the same address
 * can shut such a client out.
 */
const LONG_SECRET = 16;
const isLong = (secret = ''): boolean => secret.length >= LONG_SECRET;

/**
 * Whether the client has no secret, or one that everybody knows, like KubeSphere's. Then there is nothing to guess, and throttling
 * would only shut people out.
 */
const provesNothing = (client: Client, secret: string | undefined): boolean => client.public || secret === client.name;

/**
 * Whether the secret of a public client is absent. Its own id as the secret counts as absent: programs that were written for the
 * built-in client of KubeSphere 3.4, or for ours before it was public, send that (A-52, docs/promises.md).
 */
const isWithoutProof = ({ name }: Client, secret: string | undefined): boolean =>
  secret === undefined || secret === name;

/**
 * The name and address for which the throttle counts the attempt. `undefined` if nothing can be guessed: there is no client id, or
 * the client has no secret or a known one.
 */
function guessOf(
  proof: Proof | 'unfit',
  client: Client | undefined,
  { source, secret }: { readonly source: string; readonly secret: string | undefined },
): { readonly name: string; readonly source: string } | undefined {
  if (proof === 'unfit' || proof.id === undefined || (client && provesNothing(client, secret))) return undefined;
  return { name: proof.id, source };
}

function createCompare(
  options: OAuthOptions,
  { random, clientSecrets }: Pick<ClientAuthenticationParts, 'random' | 'clientSecrets'>,
): Compare {
  const digestKey = random.bytes(32);
  const digest = (secret: string): Buffer => createHmac('sha256', digestKey).update(secret).digest();
  const noSecret = random.bytes(32);
  const known = new Map(options.clients.map((client) => [client.name, client]));
  const digests = new Map<string, { readonly of: string; readonly digest: Buffer }>();
  /** Computes the digest again when the secret has changed. */
  const digestOf = (client: Client): Buffer => {
    const secret = clientSecrets.secretOf(client);
    if (secret === undefined) return noSecret;
    const before = digests.get(client.name);
    if (before?.of === secret) return before.digest;
    const made = { of: secret, digest: digest(secret) };
    digests.set(client.name, made);
    return made.digest;
  };
  for (const client of options.clients) digestOf(client);
  return ({ id, secret }) => {
    const client = known.get(id ?? '');
    const equal = timingSafeEqual(digest(secret ?? ''), client ? digestOf(client) : noSecret);
    const proven = client?.public ? isWithoutProof(client, secret) : equal && secret !== undefined;
    if (!client) return { fault: id === undefined ? 'no_credentials' : 'unknown_client' };
    return proven ? { client } : { client, fault: 'wrong_secret' };
  };
}

/**
 * Reads the client's credentials from the header or from the body, never from both (N-08, N-09). A bearer token in the header is
 * ignored here.
 */
function readProof(form: Form, authorization: string | undefined): Proof | 'unfit' {
  const credentials = parseAuthorization(authorization);
  const inBody = { id: parameter(form, 'client_id'), secret: parameter(form, 'client_secret') };
  if (!credentials || credentials.scheme === 'bearer') return inBody;
  if (credentials.scheme !== 'basic') return 'unfit';
  if (inBody.secret !== undefined) throw invalidRequest('the client authenticates in the header and in the body');
  const basic = parseBasic(credentials.text);
  if (!basic) return 'unfit';
  if (inBody.id !== undefined && inBody.id !== basic.id)
    throw invalidRequest('the header and the body name different clients');
  return { id: basic.id, secret: basic.secret || undefined };
}
