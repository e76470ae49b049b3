import { describe, expect, test } from 'vitest';
import type { ApiClient, ApiRequest } from '../../../../src/kubernetes/client/api-client.ts';
import type { KubernetesObject } from '../../../../src/kubernetes/object.ts';
import { SecretRequests } from '../../../../src/kubernetes/secrets/secret-requests.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const PATH = '/api/v1/namespaces/apps/secrets';
const secret: KubernetesObject = {
  metadata: { name: 'keys', namespace: 'apps', uid: 'u', resourceVersion: '7', labels: { owner: 'them' } },
  type: 'Opaque',
  data: { a: 'b2xk' },
};
const data = { a: Buffer.from('new') };

/** Requests that are answered with this status and body. */
function answered(status: number, body: unknown = secret) {
  const sent: ApiRequest[] = [];
  const client: Pick<ApiClient, 'json'> = {
    json(request) {
      sent.push(request);
      return Promise.resolve({ status, headers: {}, body, bytes: 0 });
    },
  };
  const closed = new AbortController().signal;
  const parts = { client: client as ApiClient, namespace: 'apps', clock: new FakeClock(), closed };
  return { sent, requests: new SecretRequests(parts) };
}

describe('reading a Secret', () => {
  test('asks for it by its name', async () => {
    const { requests, sent } = answered(200);
    expect(await requests.get('a/b')).toBe(secret);
    expect(sent).toEqual([{ method: 'GET', path: `${PATH}/a%2Fb`, purpose: 'secrets' }]);
  });

  test('finds none where there is none, and fails where it is not told', async () => {
    expect(await answered(404, {}).requests.get('keys')).toBeUndefined();
    await expect(answered(403, {}).requests.get('keys')).rejects.toThrow(/^reading the Secret keys was answered 403/);
    await expect(answered(300).requests.get('keys')).rejects.toThrow(/was answered 300/);
  });

  test.each(['no JSON', null, {}, { kind: 'Table', rows: [] }, { metadata: { name: 'keys', uid: 'u' } }])(
    'takes %j for no Secret',
    async (body) => {
      const NONE = 'the API server answered with something that is no Secret';
      await expect(answered(200, body).requests.get('keys')).rejects.toThrow(NONE);
      await expect(answered(201, body).requests.create('keys', data)).rejects.toThrow(NONE);
      await expect(answered(200, body).requests.replace(secret, data)).rejects.toThrow(NONE);
    },
  );
});

describe('creating a Secret', () => {
  test('sends it with our label and those of its kind', async () => {
    const { requests, sent } = answered(201);
    expect(await requests.create('keys', data, { kind: 'session' })).toBe(secret);
    const labels = { 'app.kubernetes.io/managed-by': 'gatehouse', kind: 'session' };
    const body = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'keys', labels },
      type: 'Opaque',
      data: { a: 'bmV3' },
    };
    expect(sent).toEqual([{ method: 'POST', path: PATH, purpose: 'secrets', body }]);
  });

  test('finds one that exists, and fails where it is refused', async () => {
    expect(await answered(409, {}).requests.create('keys', data)).toBe('exists');
    await expect(answered(404, {}).requests.create('keys', data)).rejects.toThrow(/^creating the Secret keys was /);
  });
});

describe('replacing a Secret', () => {
  test('sends all of it back with other data, at the version that was read', async () => {
    const { requests, sent } = answered(200);
    expect(await requests.replace(secret, data)).toBe(secret);
    const body = { ...secret, apiVersion: 'v1', kind: 'Secret', data: { a: 'bmV3' } };
    expect(sent).toEqual([{ method: 'PUT', path: `${PATH}/keys`, purpose: 'secrets', body }]);
  });

  test.each([409, 404])('is a conflict when it was changed or removed meanwhile: %i', async (status) => {
    expect(await answered(status, {}).requests.replace(secret, data)).toBe('conflict');
  });

  test('fails where it is refused', async () => {
    await expect(answered(422, {}).requests.replace(secret, data)).rejects.toThrow(/^updating the Secret keys was /);
  });
});

describe('removing a Secret', () => {
  test('removes exactly the state that was read', async () => {
    const { requests, sent } = answered(200, {});
    expect(await requests.remove(secret)).toBe('removed');
    const preconditions = { uid: 'u', resourceVersion: '7' };
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions };
    expect(sent).toEqual([{ method: 'DELETE', path: `${PATH}/keys`, purpose: 'secrets', body }]);
  });

  test('finds it changed, finds it gone, and fails where it is refused', async () => {
    expect(await answered(409, {}).requests.remove(secret)).toBe('conflict');
    expect(await answered(404, {}).requests.remove(secret)).toBe('removed');
    await expect(answered(405, {}).requests.remove(secret)).rejects.toThrow(/^removing the Secret keys was /);
  });
});

describe('a request about a Secret that is not answered', () => {
  function unanswered() {
    const clock = new FakeClock();
    const closing = new AbortController();
    const signals: AbortSignal[] = [];
    const client: Pick<ApiClient, 'json'> = {
      json(_request, signal) {
        signals.push(signal);
        return new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
        });
      },
    };
    const parts = { client: client as ApiClient, namespace: 'apps', clock, closed: closing.signal };
    const asked = new SecretRequests(parts).get('keys').catch((error: Error) => error.message);
    return { clock, closing, signals, asked };
  }

  test('is given up after 10 s', async () => {
    const { clock, signals, asked } = unanswered();
    await clock.advance(9_999);
    expect(signals[0]?.aborted).toBe(false);
    await clock.advance(1);
    expect(await asked).toBe('aborted');
  });

  test('is given up when the connections are closed, and leaves no timer', async () => {
    const { clock, closing, asked } = unanswered();
    closing.abort();
    expect([await asked, clock.pendingTimers]).toEqual(['aborted', 0]);
  });
});
