import { describe, expect, test } from 'vitest';
import type { ApiClient, ApiRequest } from '../../../src/kubernetes/client/api-client.ts';
import { TokenReviews } from '../../../src/kubernetes/reviews.ts';

const USERNAME = 'system:serviceaccount:apps:robot';
const GROUPS = ['system:serviceaccounts', 'system:authenticated'];
const USER = { username: USERNAME, uid: 'u', groups: GROUPS };
const never = new AbortController().signal;

/** What is made of this answer to a review of `token` for `gatehouse`. */
function review(body: unknown, status = 201) {
  const requests: ApiRequest[] = [];
  const client: Pick<ApiClient, 'json'> = {
    json(request) {
      requests.push(request);
      return Promise.resolve({ status, headers: {}, body, bytes: 0 });
    },
  };
  const reviewed = new TokenReviews(client as ApiClient).review('token', 'gatehouse', never);
  return { reviewed, requests };
}

const of = (change: object) => ({
  status: { authenticated: true, audiences: ['other', 'gatehouse'], user: USER, ...change },
});

describe('a review of a token', () => {
  test('asks for our audience', async () => {
    const { requests, reviewed } = review(of({}));
    await reviewed;
    expect(requests).toEqual([
      {
        method: 'POST',
        path: '/apis/authentication.k8s.io/v1/tokenreviews',
        purpose: 'token_review',
        body: {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenReview',
          spec: { token: 'token', audiences: ['gatehouse'] },
        },
      },
    ]);
  });

  test('names the service account that the token stands for', async () => {
    expect(await review(of({})).reviewed).toEqual(USER);
    expect(await review(of({ user: { username: USERNAME } })).reviewed).toEqual({ ...USER, uid: '', groups: [] });
  });

  test.each([
    ['a token that the cluster does not know', of({ authenticated: false })],
    ['a token of which it says nothing', { status: {} }],
    ['one that is known by a text', of({ authenticated: 'true' })],
    ['one without an audience, which was made for the API server', of({ audiences: undefined })],
    ['one for others', of({ audiences: ['other'] })],
    ['audiences that are a text', of({ audiences: 'gatehouse' })],
    ['no user', of({ user: null })],
    ['a person', of({ user: { ...USER, username: 'jane' } })],
    ['a node', of({ user: { ...USER, username: 'system:node:a' } })],
    ['a service account without a name', of({ user: { ...USER, username: 'system:serviceaccount:apps:' } })],
    ['a name after the service account', of({ user: { ...USER, username: `${USERNAME}:more` } })],
    ['a name before the service account', of({ user: { ...USER, username: `x${USERNAME}` } })],
    ['a name that is no text', of({ user: { ...USER, username: 7 } })],
    ['a uid that is no text', of({ user: { ...USER, uid: 7 } })],
    ['groups that are a text', of({ user: { ...USER, groups: 'system:masters' } })],
    ['a group that is no text', of({ user: { ...USER, groups: ['a', 7] } })],
  ])('takes %s for nobody', async (_what, body) => {
    expect(await review(body).reviewed).toBeUndefined();
  });

  test.each([
    ['a refusal', { kind: 'Status', code: 403, reason: 'Forbidden', message: 'no' }, 403],
    ['a refusal that looks like an answer', of({}), 500],
    ['an answer without a status', {}, 201],
    ['an answer with the status null', { status: null }, 201],
    ['an answer that is no JSON', undefined, 201],
    ['an answer null', null, 201],
  ])('fails with %s', async (_what, body, status) => {
    await expect(review(body, status).reviewed).rejects.toThrow(/^a token review was answered /);
  });
});
