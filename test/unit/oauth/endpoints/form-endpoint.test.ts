import { describe, expect, test } from 'vitest';
import { neverProven } from '../../../../src/data-age.ts';
import type { FormRequest } from '../../../../src/oauth/authorization-server.ts';
import { countedBy } from '../../../support/counted.ts';
import { formRequest, newTestServer, refusalOf, type TestServer } from '../test-server.ts';

const FORM_TYPE = 'application/x-www-form-urlencoded';
const CONSOLE = { client_id: 'console', client_secret: 'made-up-secret' };

describe.each(['revoke', 'introspect'] as const)('the form of %s', (endpoint) => {
  const send = async (body: string | Record<string, string>, change: Partial<FormRequest> = {}, test?: TestServer) =>
    (test ?? (await newTestServer())).server[endpoint](formRequest(body, change));

  test.each<[string, string | Record<string, string>, Partial<FormRequest>]>([
    ['without credentials', { token: 'x' }, {}],
    ['of an unknown client', { client_id: 'nobody', client_secret: 'x', token: 'x' }, {}],
    ['with a wrong secret', { ...CONSOLE, client_secret: 'wrong', token: 'x' }, {}],
    ['of a client with a secret that sends none', { client_id: 'console', token: 'x' }, {}],
    ['with a bearer alone', { token: 'x' }, { authorization: 'Bearer x' }],
    ['with another scheme', { token: 'x' }, { authorization: 'Digest x' }],
  ])('T-23 N-10 %s is 401 invalid_client with the Basic challenge', async (_, body, change) => {
    expect(await refusalOf(() => send(body, change))).toEqual({
      status: 401,
      code: 'invalid_client',
      description: 'client authentication failed',
      headers: { 'WWW-Authenticate': 'Basic realm="gatehouse"' },
    });
  });

  test.each<[string, string | Record<string, string>, Partial<FormRequest>]>([
    ['T-23 without a token', CONSOLE, {}],
    ['N-05 with an empty token', { ...CONSOLE, token: '' }, {}],
    ['N-04 with a parameter twice', 'token=a&token=b', {}],
    ['N-06 with a broken escape', 'token=%zz', {}],
    ['N-07 with 65 parameters', Array.from({ length: 65 }, (__, index) => `p${index}=x`).join('&'), {}],
    [
      'N-09 with credentials in header and body',
      { ...CONSOLE, token: 'x' },
      { authorization: `Basic ${Buffer.from('console:made-up-secret').toString('base64')}` },
    ],
  ])('%s is 400 invalid_request', async (_, body, change) => {
    expect(await refusalOf(() => send(body, change))).toMatchObject({ status: 400, code: 'invalid_request' });
  });

  test('N-08 may authenticate in the header', async () => {
    const authorization = `Basic ${Buffer.from('console:made-up-secret').toString('base64')}`;
    const answer = endpoint === 'revoke' ? undefined : { active: false };
    expect(await send({ token: 'garbage' }, { authorization })).toEqual(answer);
  });

  test.each([
    ['N-02 of another type', 'text/plain', '', 'the body must be application/x-www-form-urlencoded in UTF-8'],
    ['N-03 with a query string', FORM_TYPE, 'token=x', 'parameters belong in the body, not in the address'],
  ])('%s is 400 before the body is read, and counted', async (_, type, query, description) => {
    const test = await newTestServer();
    const refusal = await refusalOf(() => test.server.checkFormHead(endpoint, type, query));
    expect(refusal).toEqual({ status: 400, code: 'invalid_request', description });
    const name = endpoint === 'revoke' ? 'revocation' : 'introspection';
    const counted = await countedBy(test.registry, `gatehouse_${name}_requests_total`, 'result');
    expect(counted).toEqual({ invalid_request: 1 });
  });

  test('N-19 a failure of ours is 500 without detail', async () => {
    const test = await newTestServer();
    Object.assign(test.sessions.proof, neverProven());
    test.sessions.fault = () => {
      throw new Error('ECONNREFUSED 192.0.2.1');
    };
    expect(await refusalOf(() => send({ ...CONSOLE, token: 'x' }, {}, test))).toEqual({
      status: 500,
      code: 'server_error',
      description: 'the server failed',
    });
  });
});
