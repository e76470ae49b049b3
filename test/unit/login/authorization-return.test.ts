import * as oauth from 'oauth4webapi';
import { describe, expect, test } from 'vitest';
import { readAuthorizationReturn } from '../../../src/cli/login/browser/authorization-return.ts';

const SENT = { state: 'state-of-this-run', issuer: 'https://gatehouse.example.com/oauth' };
const GOOD = { code: 'a-code', state: SENT.state, iss: SENT.issuer };

const read = (query: string) => readAuthorizationReturn(new URLSearchParams(query), SENT);
const query = (change: Readonly<Record<string, string | undefined>>): string =>
  new URLSearchParams(
    Object.entries({ ...GOOD, ...change }).filter((entry): entry is [string, string] => entry[1] !== undefined),
  ).toString();

/** Whether a certified client library takes the answer as that of this request. */
function isTakenByLibrary(text: string): boolean {
  const server = { issuer: SENT.issuer, authorization_response_iss_parameter_supported: true };
  try {
    oauth.validateAuthResponse(server, { client_id: 'gatehouse' }, new URLSearchParams(text), SENT.state);
    return true;
  } catch {
    return false;
  }
}

describe('an answer to the authorization request', () => {
  test('has a code', () => {
    expect(read(query({}))).toEqual({ kind: 'code', code: 'a-code' });
  });

  test.each([
    ['another state', query({ state: 'other' })],
    ['no state', query({ state: undefined })],
    ['nothing', ''],
    ['a state twice', `${query({})}&state=${SENT.state}`],
    ['a code twice', `${query({})}&code=b`],
  ])('is none with %s', (_, text) => {
    expect(read(text)).toEqual({ kind: 'foreign' });
  });

  test.each([
    ['another issuer', query({ iss: 'https://evil.example/oauth' }), 'the answer does not name the server'],
    ['no issuer', query({ iss: undefined }), 'the answer does not name the server'],
    ['another issuer and an error', query({ iss: 'x', error: 'access_denied' }), 'the answer does not name the server'],
    ['no code', query({ code: undefined }), 'the answer has no code'],
    ['an empty code', query({ code: '' }), 'the answer has no code'],
    ['a refusal', query({ error: 'access_denied' }), 'it was refused'],
    ['an error', query({ error: 'server_error', error_description: 'try later' }), 'server_error: try later'],
    ['an error that commands the terminal', query({ error: 'x', error_description: '\u001b[2J' }), 'x'],
    ['an error that nobody can read', query({ error: '\u0007' }), 'for an unknown reason'],
  ])('is a refusal with %s', (_, text, reason) => {
    expect(read(text)).toEqual({ kind: 'refused', reason: expect.stringContaining(reason) });
  });

  const WORDS = [undefined, '', 'x', ...Object.values(GOOD)];
  const CASES = WORDS.flatMap((state) =>
    WORDS.flatMap((iss) =>
      WORDS.flatMap((code) => [undefined, 'access_denied'].map((error) => query({ state, iss, code, error }))),
    ),
  );

  test('is taken as oauth4webapi takes it, in 432 cases and with each parameter twice', () => {
    const all = CASES.flatMap((text) => [text, ...Object.keys(GOOD).map((name) => `${text}&${name}=y`)]);
    const taken = all.filter((text) => read(text).kind === 'code');
    // The library also takes an answer with no code or with two, of which the token request would then take the first.
    const hasCode = (text: string): boolean => {
      const [code, second] = new URLSearchParams(text).getAll('code');
      return Boolean(code) && second === undefined;
    };
    expect(taken).toEqual(all.filter((text) => isTakenByLibrary(text) && hasCode(text)));
    expect(taken.length).toBeGreaterThan(0);
  });
});
