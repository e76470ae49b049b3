import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Random } from '../random.ts';
import { parseAuthorization, parseBasic } from './authorization-header.ts';
import { type Form, parameter } from './form.ts';
import type { Client, OAuthOptions } from './options.ts';
import { clientAuthenticationFailed, invalidRequest } from './refusals.ts';

/** Finds the client that a request comes from, or throws `invalid_client` (RFC 6749 2.3). */
export interface ClientAuthentication {
  authenticate(form: Form, authorization: string | undefined): Client;
}

interface Proof {
  readonly id: string | undefined;
  readonly secret: string | undefined;
}

/**
 * `client_secret_basic` and `client_secret_post`. Secrets are compared by keyed digests of one length, in constant time;
 * a client that does not exist costs the same compare as one that does (N-10).
 */
export function createClientAuthentication(options: OAuthOptions, random: Random): ClientAuthentication {
  const digestKey = random.bytes(32);
  const digest = (secret: string): Buffer => createHmac('sha256', digestKey).update(secret).digest();
  const noSecret = random.bytes(32);
  const known = new Map(
    options.clients.map((client) => [
      client.name,
      { client, digest: client.secret === undefined ? noSecret : digest(client.secret) },
    ]),
  );
  const authenticate = (form: Form, authorization: string | undefined): Client => {
    const proof = readProof(form, authorization, options.platform);
    const entry = known.get(proof.id ?? '');
    const equal = timingSafeEqual(digest(proof.secret ?? ''), entry?.digest ?? noSecret);
    const proven = entry?.client.public ? proof.secret === undefined : equal && proof.secret !== undefined;
    if (!entry || !proven) throw clientAuthenticationFailed(options.platform);
    return entry.client;
  };
  return { authenticate };
}

/** From the header or from the body, never both (N-08, N-09). A bearer beside the form is none of our business here. */
function readProof(form: Form, authorization: string | undefined, platform: string): Proof {
  const credentials = parseAuthorization(authorization);
  const inBody = { id: parameter(form, 'client_id'), secret: parameter(form, 'client_secret') };
  if (!credentials || credentials.scheme === 'bearer') return inBody;
  if (credentials.scheme !== 'basic') throw clientAuthenticationFailed(platform);
  if (inBody.secret !== undefined) throw invalidRequest('the client authenticates in the header and in the body');
  const basic = parseBasic(credentials.text);
  if (!basic) throw clientAuthenticationFailed(platform);
  if (inBody.id !== undefined && inBody.id !== basic.id)
    throw invalidRequest('the header and the body name different clients');
  return { id: basic.id, secret: basic.secret || undefined };
}
