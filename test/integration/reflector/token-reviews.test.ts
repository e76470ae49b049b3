import { describe, expect, test } from 'vitest';
import { connect } from './mirror.ts';

const AUDIENCE = 'https://gatehouse.example.com/oauth';
const USER = { username: 'system:serviceaccount:default:robot', uid: 'u-1', groups: ['system:serviceaccounts'] };
const GOOD = { authenticated: true, user: USER, audiences: [AUDIENCE] };
const signal = () => AbortSignal.timeout(30_000);

/** A cluster that gives this status to every TokenReview. */
const connectTo = (status: object) => connect({ reviewToken: () => status });

describe('token review', () => {
  test('sends the token and our audience, and answers name, uid and groups as the cluster says', async () => {
    const { cluster, server, value } = await connectTo(GOOD);
    expect(await cluster.tokenReviewer.review('a.b.c', AUDIENCE, signal())).toEqual(USER);
    expect(JSON.parse(server.evidence.requests.at(-1)!.body.toString())).toEqual({
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token: 'a.b.c', audiences: [AUDIENCE] },
    });
    expect(await value('cluster_requests_total', { purpose: 'token_review', code: '201' })).toBe(1);
  });

  test('takes a token of an existing service account for our audience', async () => {
    const { cluster, server } = await connect();
    const { metadata } = server.objects.create('serviceaccounts', {
      metadata: { name: 'robot', namespace: 'default' },
    });
    const token = server.serviceAccountToken('default', 'robot', [AUDIENCE]);
    expect(await cluster.tokenReviewer.review(token, AUDIENCE, signal())).toEqual({
      username: 'system:serviceaccount:default:robot',
      uid: metadata.uid,
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
    });
    expect(await cluster.tokenReviewer.review(token, 'other', signal())).toBeUndefined();
  });

  test.each([
    ['false', { ...GOOD, authenticated: false }],
    ['not set', { user: {}, error: 'invalid bearer token' }],
    ['text', { ...GOOD, authenticated: 'true' }],
  ])('refuses where authenticated is %s', async (_, status) => {
    const { cluster } = await connectTo(status);
    expect(await cluster.tokenReviewer.review('a.b.c', AUDIENCE, signal())).toBeUndefined();
  });

  test.each([
    ['left out, as by an authenticator that knows nothing of audiences', undefined],
    ['empty', []],
    ['others', ['https://kubernetes.default.svc']],
    ['text', AUDIENCE],
  ])('refuses where the audiences are %s', async (_, audiences) => {
    const { cluster } = await connectTo({ ...GOOD, audiences });
    expect(await cluster.tokenReviewer.review('a.b.c', AUDIENCE, signal())).toBeUndefined();
  });

  test.each([
    ['ada'],
    ['system:admin'],
    ['system:node:a'],
    ['system:serviceaccount:default'],
    ['system:serviceaccount:default:'],
    ['system:serviceaccount::robot'],
    ['system:serviceaccount:default:robot:more'],
    ['system:serviceaccount:default:Robot'],
    ['system:serviceaccount:a.b:robot'],
    ['system:serviceaccount:default:robot\n'],
    ['xsystem:serviceaccount:default:robot'],
    [undefined],
  ])('refuses the user %j: the setting is about service accounts only', async (username) => {
    const { cluster } = await connectTo({ ...GOOD, user: { ...USER, username } });
    expect(await cluster.tokenReviewer.review('a.b.c', AUDIENCE, signal())).toBeUndefined();
  });

  test.each([401, 403, 429, 500, 503])('rejects when the cluster answers %i', async (status) => {
    const { cluster, server } = await connect();
    server.faults.times(2, { kind: 'tokenreviews' }, { status });
    await expect(cluster.tokenReviewer.review('a.b.c', AUDIENCE, signal())).rejects.toThrow(String(status));
  });

  test('rejects an answer without a status: it says neither good nor bad', async () => {
    const { cluster, server } = await connect();
    server.faults.next({ kind: 'tokenreviews' }, { stream: { inject: ['{"kind":"TokenReview"}'], ending: 'close' } });
    await expect(cluster.tokenReviewer.review('a.b.c', AUDIENCE, signal())).rejects.toThrow('a token review');
  });
});
