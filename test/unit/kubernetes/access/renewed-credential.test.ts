import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import type { Credential } from '../../../../src/kubernetes/access/credentials.ts';
import { ApiClient, type ApiRequest } from '../../../../src/kubernetes/client/api-client.ts';
import type { ConnectionPool } from '../../../../src/kubernetes/client/connection-pool.ts';
import { RequestMetrics } from '../../../../src/kubernetes/metrics.ts';
import { createHttpListerWatcher } from '../../../../src/kubernetes/reflector/http-lister-watcher.ts';
import { TimeSlices } from '../../../../src/runtime/time-slices.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { answer, ScriptedDispatcher, type ScriptedRequest } from '../client/scripted-dispatcher.ts';

const tls = { rejectUnauthorized: true };
const OLD: Credential = { authorization: 'Bearer old', tls };
const NEW: Credential = { authorization: 'Bearer new', tls };
const VERSION: ApiRequest = { method: 'GET', path: '/version', purpose: 'version' };
const never = new AbortController().signal;

/** A client whose requests the script answers, and whose credential is `renewed` once it is asked for another one. */
function client(onRequest: (request: ScriptedRequest) => void, renewed: Credential = NEW) {
  const script = new ScriptedDispatcher();
  script.onRequest = onRequest;
  const clock = new FakeClock();
  const registry = new Registry();
  const lanes: string[] = [];
  const renewals = { count: 0 };
  const api = new ApiClient({
    server: 'https://api:6443/prefix/',
    userAgent: 'test',
    clock,
    metrics: new RequestMetrics(registry, () => 0),
    pool: {
      dispatcher(lane: string) {
        lanes.push(lane);
        return script.dispatcher;
      },
    } as unknown as ConnectionPool,
    credentials: {
      current: () => Promise.resolve(OLD),
      renew() {
        renewals.count++;
        return Promise.resolve(renewed);
      },
    },
  });
  const counted = async (): Promise<Record<string, number>> => {
    const values = (await registry.getSingleMetric('gatehouse_cluster_requests_total')?.get())?.values ?? [];
    const seen = values.filter(({ value }) => value > 0);
    return Object.fromEntries(seen.map(({ labels, value }) => [`${labels['purpose']} ${labels['code']}`, value]));
  };
  const seconds = async () =>
    (await registry.getSingleMetric('gatehouse_cluster_request_duration_seconds')?.get())?.values
      .filter(({ labels }) => !('le' in labels))
      .map(({ value }) => value);
  const sent = (): unknown[] =>
    script.requests.map(({ options }) => (options.headers as Record<string, string>)['authorization']);
  return { api, script, clock, lanes, renewals, counted, seconds, sent };
}

const fault = (code: string): Error => Object.assign(new Error('no connection'), { code });

describe('a request to the API server', () => {
  test('that is answered is sent once, and asks for no other credential', async () => {
    const { api, script, renewals, sent } = client((request) => answer(request, 200, '{"major":"1"}'));
    expect(await api.json(VERSION, never)).toMatchObject({ status: 200, body: { major: '1' }, bytes: 13 });
    expect([sent(), renewals.count]).toEqual([['Bearer old'], 0]);
    expect(script.last.options).toMatchObject({ origin: 'https://api:6443', path: '/prefix/version', body: null });
  });

  test('C-27 after a 401 is sent once more with another credential, and only the last answer is seen', async () => {
    const { api, sent, counted } = client((request) =>
      (request.options.headers as Record<string, string>)['authorization'] === 'Bearer new'
        ? answer(request, 200, '{}')
        : answer(request, 401, '{"no":1}'),
    );
    expect(await api.json(VERSION, never)).toMatchObject({ status: 200, body: {}, bytes: 2 });
    expect(sent()).toEqual(['Bearer old', 'Bearer new']);
    expect(await counted()).toEqual({ 'version 401': 1, 'version 200': 1 });
  });

  test('C-27 is refused when there is no other credential, by the 401 that came', async () => {
    const { api, sent } = client((request) => answer(request, 401, '{"no":1}', { a: 'b' }), { ...OLD });
    expect(await api.json(VERSION, never)).toMatchObject({ status: 401, headers: { a: 'b' }, body: { no: 1 } });
    expect(sent()).toEqual(['Bearer old']);
  });

  test.each([
    'CERT_SIGNATURE_FAILURE',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'UNABLE_TO_GET_ISSUER_CERT',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  ])('C-31 is sent once more when new authorities may vouch for the server after %s', async (code) => {
    const renewed = { ...OLD, tls: { ...tls, ca: 'new' } };
    const faults = [fault(code)];
    const { api, sent } = client((request) => {
      const next = faults.shift();
      if (next) request.fail(next);
      else answer(request, 200);
    }, renewed);
    expect((await api.json(VERSION, never)).status).toBe(200);
    expect(sent().length).toBe(2);
  });

  test('C-31 fails when nobody vouches for the server and nothing new was found', async () => {
    const { api, sent, counted } = client((request) => request.fail(fault('CERT_SIGNATURE_FAILURE')), OLD);
    await expect(api.json(VERSION, never)).rejects.toMatchObject({ code: 'CERT_SIGNATURE_FAILURE' });
    expect(sent().length).toBe(1);
    expect(await counted()).toEqual({ 'version error': 1 });
  });

  test.each(['ECONNREFUSED', 'CERT_HAS_EXPIRED'])('fails at once after %s, which no credential mends', async (code) => {
    const { api, sent, renewals } = client((request) => request.fail(fault(code)));
    await expect(api.json(VERSION, never)).rejects.toMatchObject({ code });
    expect([sent().length, renewals.count]).toEqual([1, 0]);
  });

  test('is counted once: by its status when it was answered, even if it broke off then', async () => {
    const { api, clock, counted, seconds } = client(() => undefined);
    const { api: broken, counted: countedBroken } = client((request) => {
      request.start();
      request.respond(200);
      request.fail(new Error('broken off'));
    });
    await expect(broken.json(VERSION, never)).rejects.toThrow('broken off');
    expect(await countedBroken()).toEqual({ 'version 200': 1 });
    const controller = new AbortController();
    const given = api.json(VERSION, controller.signal);
    await clock.advance(1_000);
    controller.abort();
    await expect(given).rejects.toThrow('aborted');
    expect([await counted(), await seconds()]).toEqual([{}, []]);
  });

  test('shows its time until the headers came', async () => {
    const { api, clock, script, seconds } = client(() => undefined);
    const asked = api.json(VERSION, never);
    await clock.advance(2_000);
    script.last.start();
    script.last.respond(200);
    await clock.advance(3_000);
    script.last.end();
    await asked;
    expect(await seconds()).toEqual([2, 1]); // their sum, their number
  });

  test('goes by a connection of its own kind: watches never hold up what somebody waits for', async () => {
    const { api, lanes } = client((request) => answer(request, 200));
    await api.json(VERSION, never);
    await api.json({ ...VERSION, purpose: 'watch' }, never);
    expect(lanes).toEqual(['requests', 'watches']);
  });

  test('sends a body as JSON, and says so', async () => {
    const { api, script } = client((request) => answer(request, 201));
    await api.json({ ...VERSION, method: 'POST', body: { a: 1 } }, never);
    expect(script.last.options).toMatchObject({
      method: 'POST',
      body: '{"a":1}',
      headers: { accept: 'application/json', 'content-type': 'application/json', 'user-agent': 'test' },
    });
  });
});

test('a watch that was given up before it began asks for nothing', async () => {
  const { api, sent, clock } = client((request) => answer(request, 200));
  const source = createHttpListerWatcher({ client: api, slices: new TimeSlices(clock) }, { path: '/a', name: 'a' });
  const sink = { accepted: () => undefined, bytes: () => undefined, event: () => undefined };
  const request = { resourceVersion: '', timeoutSeconds: 300 };
  expect(await source.watch(request, sink, AbortSignal.abort())).toEqual({ kind: 'aborted' });
  expect(sent()).toEqual([]);
});
