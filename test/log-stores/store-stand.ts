import { type ClientRequest, type IncomingMessage, request as send } from 'node:http';
import { startSimulatedCluster } from '../../dev/cluster/cluster.ts';
import type { NewObject } from '../../dev/cluster/kube-object.ts';
import type { LogDocument } from '../../dev/log-store/stored-record.ts';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import { LOG_PEOPLE, logCluster } from '../support/logs/log-people.ts';
import { type LogStand, startLogStand } from '../support/logs/log-stand.ts';
import { exchange, type WireAnswer } from '../support/observed/exchange.ts';
import { CLIENTS, OBSERVED_CONFIG, type Person, person } from '../support/observed/people.ts';
import { type RealStore, startStore } from './real-store.ts';
import { STORES, type StoreName } from './store-tools.ts';

const { platform } = OBSERVED_CONFIG;
const LOGS = `/kapis/tenant.${platform}.io/v1alpha2/logs`;

export interface StoreStandParts {
  readonly name: StoreName;
  readonly records: readonly LogDocument[];
  /** What the cluster has. Default: the namespaces and rights of the recorded cases. */
  readonly objects?: readonly NewObject[];
  /** Who signs in, besides those of the recorded cases. */
  readonly people?: readonly Person[];
}

/** Gatehouse between a simulated cluster and a store. */
export interface LogQueryStand {
  readonly corpus: LogStand['corpus'];
  /** The answer to a log query. */
  ask(who: string, parameters: Readonly<Record<string, string>>): Promise<WireAnswer>;
  /** The answer to any other path. */
  get(who: string, path: string): Promise<WireAnswer>;
  /** A log query whose answer is read by whoever asks. */
  begin(who: string, parameters: Readonly<Record<string, string>>): Promise<BegunQuery>;
  stop(): Promise<void>;
}

export interface StoreStand extends LogQueryStand {
  readonly store: RealStore;
}

interface BegunQuery {
  readonly request: ClientRequest;
  readonly response: Promise<IncomingMessage>;
}

export async function startStoreStand({ name, records, ...more }: StoreStandParts): Promise<StoreStand> {
  const began = performance.now();
  const store = await startStore(name);
  const started = performance.now();
  await store.load(records);
  const loaded = performance.now();
  console.log(`${name}: started in ${Math.round(started - began)} ms, loaded in ${Math.round(loaded - started)} ms`);
  const stand = await startLogQueries({ logging: addressOf(store, name), ...more });
  const stop = async (): Promise<void> => {
    await stand.stop();
    await store.stop();
  };
  return { ...stand, store, stop };
}

/**
 * How Gatehouse is told of the store. Here Elasticsearch 8 answers `GET /` with 405, because what answers it is a module that is not published as
 * a package. So the version is in the settings.
 */
export const addressOf = ({ url }: Pick<RealStore, 'url'>, name: StoreName) => ({
  host: url,
  version: name === 'elasticsearch-8' ? STORES[name].dialect : '',
});

interface LogQueriesParts extends Pick<StoreStandParts, 'objects' | 'people'> {
  /** `logging` of the configuration. Default: none. */
  readonly logging?: object;
  /** Further settings. */
  readonly settings?: object;
  readonly clock?: Clock;
}

export async function startLogQueries(parts: LogQueriesParts): Promise<LogQueryStand> {
  const { logging, settings, objects = logCluster(platform), people = [], clock = systemClock } = parts;
  const cluster = await startSimulatedCluster({ platform });
  for (const object of objects) cluster.objects.create(`${object['kind']}s`.toLowerCase(), object);
  const all = [...LOG_PEOPLE, ...people];
  const { gatehouse, corpus } = await startLogStand({
    kubeconfig: cluster.kubeconfig(),
    logging,
    settings,
    people: all,
    clock,
  });
  const { port } = gatehouse;
  const tokens = new Map<string, Promise<string>>();
  const headersOf = async (who: string): Promise<Record<string, string>> => {
    const token = tokens.get(who) ?? signIn(port, all.find((one) => one.name === who) ?? person(who));
    tokens.set(who, token);
    return { Authorization: `Bearer ${await token}` };
  };
  const pathOf = (parameters: Readonly<Record<string, string>>): string => `${LOGS}?${new URLSearchParams(parameters)}`;
  const get = async (who: string, path: string): Promise<WireAnswer> =>
    exchange(port, { method: 'GET', path, headers: Object.entries(await headersOf(who)) });
  return {
    corpus,
    get,
    ask: (who, parameters) => get(who, pathOf(parameters)),
    async begin(who, parameters) {
      const headers = await headersOf(who);
      const response = Promise.withResolvers<IncomingMessage>();
      const target = { host: '127.0.0.1', port, path: pathOf(parameters), headers, agent: false };
      const request = send(target, response.resolve).end();
      request.on('error', response.reject);
      response.promise.catch(() => undefined); // whoever hangs up does not wait for it
      return { request, response: response.promise };
    },
    async stop() {
      await gatehouse.stop();
      await cluster.stop();
    },
  };
}

async function signIn(port: number, { name, password }: Pick<Person, 'name' | 'password'>): Promise<string> {
  const { name: id, secret } = CLIENTS.client;
  const form = { grant_type: 'password', username: name, password, client_id: id, client_secret: secret };
  const headers = [['Content-Type', 'application/x-www-form-urlencoded']] as const;
  const body = Buffer.from(new URLSearchParams(form).toString());
  const { status, text } = await exchange(port, { method: 'POST', path: '/oauth/token', headers, body });
  if (status !== 200) throw new Error(`${name} cannot sign in: ${status} ${text}`);
  return (JSON.parse(text) as { readonly access_token: string }).access_token;
}
