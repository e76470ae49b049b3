import { Agent } from 'node:http';
import { startSimulatedCluster } from '../../../dev/cluster/cluster.ts';
import { seededRandom } from '../../../dev/cluster/seeded-random.ts';
import { type Clock, systemClock } from '../../../src/runtime/clock.ts';
import { startGatehouse } from '../../support/gatehouse.ts';
import { hashOf } from '../../support/passwords.ts';
import { type Answer, exchange, type WireRequest } from './http-exchange.ts';
import { startPeer } from './peer.ts';
import { clients, people } from './people.ts';
import { drafted, type Plan } from './plan.ts';
import { Sessions } from './sessions.ts';

/** One of the two servers, as the run sees it. */
export interface Contestant {
  readonly origin: string;
  /** Makes the request of a plan, with this server's tokens, and sends it. */
  ask(plan: Plan): Promise<Answer>;
  stop(): Promise<void>;
}

interface Running {
  readonly origin: string;
  passReplayWindow(): void;
  stop(): Promise<void>;
}

/** Longer than the replay window of 30 s. */
const PAST_REPLAY_MS = 31_000;

export const startGatehouseContestant = async (): Promise<Contestant> => contestant(await runGatehouse());

export async function startPeerContestant(): Promise<Contestant> {
  return contestant({ ...(await startPeer()), passReplayWindow: () => {} });
}

function contestant({ origin, passReplayWindow, stop }: Running): Contestant {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const send = (wire: WireRequest): Promise<Answer> => exchange(origin, wire, agent);
  const sessions = new Sessions(send, passReplayWindow);
  const ask: Contestant['ask'] = async (plan) => {
    const random = seededRandom(plan.seed);
    const answer = await send((await drafted(plan, { ...plan, sessions, random })).toWire());
    const usesCurrent = ['refresh_token', 'revoke'].includes(plan.flow);
    if (usesCurrent && !plan.variations.some(({ phase }) => phase === 'grant')) sessions.note(answer);
    return answer;
  };
  return {
    origin,
    ask,
    stop: async () => {
      agent.destroy();
      await stop();
    },
  };
}

/** The whole service in front of a simulated cluster, with limits that a run of refused sign-ins does not reach. */
async function runGatehouse(): Promise<Running> {
  const cluster = await startSimulatedCluster();
  const shift = { ms: 0 };
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + shift.ms };
  const users = people.map(async ({ name, email, password }) => {
    return { name, email, passwordHash: await hashOf(password) };
  });
  const gatehouse = await startGatehouse({
    kubeconfig: cluster.kubeconfig(),
    clock,
    config: { authentication: authentication() },
    users: JSON.stringify({ users: await Promise.all(users) }),
  });
  return {
    origin: gatehouse.origin,
    passReplayWindow: () => {
      shift.ms += PAST_REPLAY_MS;
    },
    stop: async () => {
      await gatehouse.stop();
      await cluster.stop();
    },
  };
}

const authentication = (): object => ({
  oauthOptions: {
    clients: clients.map(({ id, secret, grantTypes }) => ({
      name: id,
      ...(secret === undefined ? { public: true } : { secret }),
      grantTypes,
    })),
  },
  authenticateRateLimiterMaxTries: 1_000_000,
  addressRateLimiterMaxTries: 1_000_000,
  clientRateLimiterMaxTries: 1_000_000,
  clientAddressRateLimiterMaxTries: 1_000_000,
});
