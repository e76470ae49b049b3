import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { forgeToken, signingKeyOf } from '../../support/forged-token.ts';
import { checkAsync } from '../../support/property.ts';
import { type Answer, CLIENT, CONFIDENTIAL, type Pair, type Service, startCluster, startService } from './stand.ts';

type Members = Readonly<Record<string, unknown>>;

const API_SERVER = 'https://kubernetes.default.svc.cluster.local';
const apiServerKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;

interface Stand {
  readonly service: Service;
  readonly cluster: SimulatedCluster;
  /** Our own: what is forged with it is stopped by its type alone. */
  readonly key: KeyObject;
}

async function start(authentication: Members = {}): Promise<Stand> {
  const cluster = await startCluster();
  const config = { authentication: { ...CONFIDENTIAL, ...authentication, tokenReview: { callerAuth: 'none' } } };
  const service = await startService(cluster, { config });
  return { service, cluster, key: await signingKeyOf(dataOf(cluster)) };
}

function dataOf(cluster: SimulatedCluster): Readonly<Record<string, Buffer>> {
  const secret = cluster.objects.get('secrets', 'default/gatehouse-signing-keys');
  const data = Object.entries(secret?.['data'] as Readonly<Record<string, string>>);
  return Object.fromEntries(data.map(([name, text]) => [name, Buffer.from(text, 'base64')]));
}

const partOf = (token: string, index: 0 | 1): Members =>
  JSON.parse(Buffer.from(token.split('.')[index] ?? '', 'base64url').toString()) as Members;

/** Everything that an access or a refresh token of the session says, and whatever audience a place may ask for. */
function sharedClaims(pair: Pair): Members {
  const [access, refresh] = [partOf(pair.access_token, 1), partOf(pair.refresh_token, 1)];
  const aud = ['gatehouse', ...(access['aud'] as string[]), ...(refresh['aud'] as string[])];
  return { ...refresh, ...access, aud };
}

const header = (pair: Pair, typ?: string): Members => {
  const { alg, kid } = partOf(pair.access_token, 0);
  return typ === undefined ? { alg, kid } : { alg, typ, kid };
};

/** As the API server writes them for a pod, with all that we look for besides. */
function serviceAccountClaims(pair: Pair): Members {
  const pod = { name: 'robot-0', uid: '11111111-2222-4333-8444-555555555555' };
  const serviceaccount = { name: 'robot', uid: '66666666-7777-4888-9999-aaaaaaaaaaaa' };
  const { token_type: _, ...shared } = sharedClaims(pair);
  const sub = 'system:serviceaccount:default:robot';
  return { ...shared, sub, nbf: shared['iat'], 'kubernetes.io': { namespace: 'default', pod, serviceaccount } };
}

/** The five types of token, each in every make that could be mistaken for another. */
const TYPES: Readonly<Record<string, (pair: Pair, key: KeyObject) => readonly string[]>> = {
  access: (pair) => [pair.access_token],
  refresh: (pair) => [pair.refresh_token],
  id: (pair, key) => {
    const claims = { ...sharedClaims(pair), token_type: 'id_token', name: 'ada', nonce: 'n' };
    return [forgeToken(key, header(pair, 'JWT'), claims), forgeToken(key, header(pair), claims)];
  },
  code: (pair, key) => {
    const claims = { ...sharedClaims(pair), token_type: 'authorization_code', redirect_uri: 'https://a.example.com/' };
    return ['JWT', 'code+jwt'].map((typ) => forgeToken(key, header(pair, typ), claims));
  },
  serviceAccount: (pair, key) => {
    const claims = serviceAccountClaims(pair);
    const own = { alg: 'RS256', kid: 'x2P0p0vYl0mJ5mJ4kX5fT0b9yQmX1g3qv3o0o3n3u2E' };
    return [
      forgeToken(apiServerKey, own, { ...claims, iss: API_SERVER }),
      forgeToken(apiServerKey, own, claims),
      forgeToken(key, header(pair), { ...claims, iss: API_SERVER }),
      forgeToken(key, header(pair), claims),
    ];
  },
};

/** A status, and the word of the answer that a client looks at. */
type Outcome = readonly [number, unknown];

interface Place {
  /** `pair`: of the session that the token was made from. */
  readonly send: (service: Service, token: string, pair: Pair) => Promise<Outcome>;
  readonly outcomes: Readonly<Record<string, Outcome>>;
}

const outcomeOf = ({ status, body }: Answer): Outcome => [status, body?.error ?? body?.reason];

const sameForAll = (outcome: Outcome): Place['outcomes'] =>
  Object.fromEntries(Object.keys(TYPES).map((type) => [type, outcome]));

const JSON_TYPE = { 'content-type': 'application/json' };
const form = (token: string) => ({ form: { ...CLIENT, token } });

/** Each place that takes a token, and the types that it is for. */
const PLACES: Readonly<Record<string, Place>> = {
  'the API': {
    send: async (service, token) => outcomeOf(await service.list(token)),
    outcomes: { ...sameForAll([401, 'Unauthorized']), access: [200, undefined] },
  },
  userinfo: {
    send: async (service, token) => outcomeOf(await service.call('/oauth/userinfo', { token })),
    outcomes: { ...sameForAll([401, 'invalid_token']), access: [200, undefined] },
  },
  logout: {
    send: async (service, token) => outcomeOf(await service.call('/oauth/logout', { token })),
    outcomes: { ...sameForAll([401, 'invalid_token']), access: [200, undefined] },
  },
  'the refresh grant': {
    send: async (service, token) => outcomeOf(await service.refresh(token)),
    outcomes: { ...sameForAll([400, 'invalid_grant']), refresh: [200, undefined] },
  },
  'the refresh grant, beside the same token as bearer': {
    send: async (service, token) => outcomeOf(await service.refresh(token, { authorization: `Bearer ${token}` })),
    outcomes: { ...sameForAll([401, 'invalid_grant']), refresh: [200, undefined] },
  },
  introspection: {
    send: async (service, token) => {
      const answer = await service.call('/oauth/introspect', form(token));
      return [answer.status, answer.body.active];
    },
    outcomes: { ...sameForAll([200, false]), access: [200, true], refresh: [200, true] },
  },
  'a token review': {
    send: async (service, token) => {
      const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } };
      const init = { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(review) };
      const answer = await fetch(`${service.gatehouse.origin}/oauth/authenticate`, init);
      const { status } = (await answer.json()) as { status: { authenticated: boolean } };
      return [answer.status, status.authenticated];
    },
    outcomes: { ...sameForAll([200, false]), access: [200, true] },
  },
  'revocation, judged by what the access token of the session gets after it,': {
    send: async (service, token, pair) => {
      expect((await service.call('/oauth/revoke', form(token))).status).toBe(200);
      return outcomeOf(await service.list(pair.access_token));
    },
    outcomes: { ...sameForAll([200, undefined]), access: [401, 'Unauthorized'], refresh: [401, 'Unauthorized'] },
  },
};

describe.each(Object.entries(PLACES))('%s', (_, place) => {
  test('N-36 R-13 takes the types of token that are meant for it, and no other', async () => {
    const { service, key } = await start();
    for (const [type, make] of Object.entries(TYPES)) {
      // A session for each type: what a token that is taken ends or rotates is none of the next type's business.
      const pair = await service.signIn('ada');
      for (const [which, token] of make(pair, key).entries()) {
        const outcome = await place.send(service, token, pair);
        expect([type, which, ...outcome]).toEqual([type, which, ...(place.outcomes[type] ?? [])]);
      }
    }
  });
});

test('N-36 A-32 with service accounts let in, the API alone takes a token that the cluster vouches for, and still no forged one', async () => {
  const { service, cluster, key } = await start({ serviceAccountTokens: { enabled: true } });
  cluster.objects.create('serviceaccounts', { metadata: { name: 'robot', namespace: 'default' } });
  const pair = await service.signIn('ada');
  const audiences = partOf(pair.access_token, 1)['aud'] as string[];
  const ofCluster = cluster.serviceAccountToken('default', 'robot', audiences);
  const forged = TYPES['serviceAccount']?.(pair, key) ?? [];
  for (const [name, { send, outcomes }] of Object.entries(PLACES)) {
    for (const token of [...forged, ofCluster]) {
      // It is known at the API, where it has no right in this cluster.
      const isTaken = token === ofCluster && name === 'the API';
      const expected = isTaken ? [403, 'Forbidden'] : outcomes['serviceAccount'];
      expect([name, await send(service, token, pair)]).toEqual([name, expected]);
    }
  }
});

test('N-36 a forged token with the types of an access token is one: nothing else of the forgeries is amiss', async () => {
  const { service, key } = await start();
  const pair = await service.signIn('ada');
  const claims = { ...sharedClaims(pair), token_type: 'access_token' };
  expect((await service.list(forgeToken(key, header(pair, 'at+jwt'), claims))).status).toBe(200);
});

test('N-41 a good token with any character replaced is 401 with the challenge', async () => {
  const { service } = await start();
  const { access_token: token } = await service.signIn('ada');
  const character = fc.constantFrom(...'ABCXYZabcxyz0189-_.~+/');
  await checkAsync(
    fc.asyncProperty(fc.nat({ max: token.length - 1 }), character, async (index, other) => {
      const text = token.slice(0, index) + other + token.slice(index + 1);
      fc.pre(text !== token);
      const answer = await service.list(text);
      const challenge = 'Bearer realm="gatehouse", error="invalid_token"';
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, challenge]);
    }),
    { cases: 300, short: 100 },
  );
  expect((await service.list(token)).status).toBe(200);
});
