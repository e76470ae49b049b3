import { Buffer } from 'node:buffer';
import { hashOf, quickBcrypt } from '../../support/passwords.ts';
import { startDrivenReady } from '../service/driven.ts';
import { passwordOf, startCluster } from '../service/stand.ts';

/**
 * Every number that can be configured, each at a value that it does not have by itself and that no other one has: a number
 * that is lost on its way, changed, or taken for its neighbour, is seen at the other end. Ports are given by the kernel.
 */
export const ODD = {
  server: { shutdownDelay: '7s', streamDrain: '37s' },
  limits: {
    maxHeaderBytes: 5_003,
    maxHeaders: 37,
    headersTimeout: '61s',
    bodyTimeout: '19s',
    keepAliveTimeout: '83s',
    maxConnections: 41,
    maxConnectionsPerAddress: 29,
    maxFormBytes: 1_187,
    maxSignInsInFlight: 17,
    maxRequestsInFlight: 15,
    maxWatches: 5,
    maxWatchesPerUser: 3,
    maxGatewayRequests: 14,
    maxGatewayRequestsPerUser: 10,
    maxGatewayStreams: 12,
    maxGatewayStreamsPerUser: 7,
    maxLogQueries: 20,
    maxLogQueriesPerUser: 18,
    answerTimeout: '1700ms',
    sendTimeout: '2m29s',
    maxBearerBytes: 3_007,
  },
  authentication: {
    maximumClockSkew: '4s',
    authenticateRateLimiterMaxTries: 2,
    authenticateRateLimiterDuration: '17m13s',
    addressRateLimiterMaxTries: 23,
    addressRateLimiterDuration: '1m47s',
    clientRateLimiterMaxTries: 4,
    clientAddressRateLimiterMaxTries: 9,
    clientRateLimiterDuration: '53s',
    loginHistoryRetentionPeriod: '97h',
    loginHistoryMaximumEntries: 8,
    passwordGate: { concurrency: 1, queue: 6, maxWait: '2300ms' },
    passwordHash: { cost: 11, maxCost: 13 },
    oauthOptions: {
      accessTokenMaxAge: '7m11s',
      accessTokenInactivityTimeout: '3m7s',
      sessionMaxAge: '16m43s',
      browserSessionMaxAge: '13m1s',
      browserSessionIdle: '8m9s',
      refreshReplayWindow: '9s',
      keyRotationPeriod: '1h53m',
      clients: [
        { name: 'gatehouse', secret: 'gatehouse' },
        { name: 'site', secret: 'made-up-site', redirectURIs: ['https://site.example.com/'] },
        {
          name: 'brief',
          secret: 'made-up-brief',
          accessTokenMaxAge: '5m9s',
          accessTokenInactivityTimeout: '2m3s',
          idTokenMaxAge: '4m5s',
        },
      ],
    },
  },
  logging: { exportLogsLimit: 19 },
  authorization: { maxStaleness: '4m7s' },
  nodes: { maxStaleness: '5m3s', selfCheck: { longestPeriod: '11m9s' } },
  kinds: { idle: '3m13s' },
};

/** Ada, Joe and Eve, who all may do everything and have Ada's password. */
const people = async (): Promise<string> => {
  const passwordHash = await hashOf(passwordOf('ada'));
  return JSON.stringify({ users: ['ada', 'joe', 'eve'].map((name) => ({ name, groups: ['admins'], passwordHash })) });
};

/** Stands for bcrypt: Ada's password is right, which needs no hash of cost 11 to be told; nothing is said while it is held. */
class Compares {
  /** The hashes that were compared with. */
  readonly stored: string[] = [];
  #held = Promise.resolve();

  /** No compare ends before the function returned is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held = promise;
    return resolve;
  }

  readonly compare = async (password: string, stored: string): Promise<boolean> => {
    this.stored.push(stored);
    await this.#held;
    return password === passwordOf('ada');
  };
}

/**
 * Gatehouse with the odd settings, on a clock that the test moves: by hours at once, in which no cluster can prove that it is
 * current. So how old data may be is set by the tests of that alone.
 */
export async function startOdd(change: { readonly server?: object; readonly config?: object } = {}) {
  const cluster = await startCluster();
  const { authorization: _, nodes: __, ...odd } = ODD;
  const config = { ...odd, ...change.config, server: { ...ODD.server, ...change.server } };
  const compares = new Compares();
  const bcrypt = { ...quickBcrypt, compare: compares.compare };
  return { cluster, compares, ...(await startDrivenReady(cluster, { config, bcrypt, users: await people() })) };
}

export const claimsOf = (token: string): Readonly<Record<string, unknown>> =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
