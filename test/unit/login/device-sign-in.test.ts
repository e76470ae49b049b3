import { describe, expect, test } from 'vitest';
import { signInByDevice } from '../../../src/cli/login/device/device-sign-in.ts';
import { NoAnswerError } from '../../../src/cli/login/login-error.ts';
import type { ServerAnswer, ServerCall } from '../../../src/cli/login/server/server-calls.ts';
import { TokenClient } from '../../../src/cli/login/server/token-client.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const SERVER = 'https://gatehouse.example.com';
const DEVICE = {
  device_code: 'sealed',
  user_code: 'WDJB-MJHT',
  verification_uri: `${SERVER}/oauth/device`,
  verification_uri_complete: `${SERVER}/oauth/device?user_code=WDJB-MJHT`,
  expires_in: 600,
  interval: 5,
};
const METADATA = { issuer: `${SERVER}/oauth`, device_authorization_endpoint: `${SERVER}/oauth/device_authorization` };
const CLAIMS = Buffer.from(JSON.stringify({ username: 'ada' })).toString('base64url');
const TOKENS = { access_token: `x.${CLAIMS}.x`, refresh_token: 'r', expires_in: 7200 };

const answer = (status: number, body: object): ServerAnswer =>
  ({ status, body, retryAfterSeconds: undefined }) as unknown as ServerAnswer;
const refusal = (error: string, status = 400): ServerAnswer => answer(status, { error });

interface Setting {
  readonly metadata?: object;
  readonly device?: object;
  /** The answers to the polls, in order; an error is an answer that was lost. */
  readonly polls?: readonly (ServerAnswer | Error)[];
}

function begin({ metadata = METADATA, device = DEVICE, polls = [] }: Setting) {
  const clock = new FakeClock();
  const said: string[] = [];
  const polledAt: number[] = [];
  const forms: ServerCall[] = [];
  const call = async (asked: ServerCall): Promise<ServerAnswer> => {
    if (asked.path === '/.well-known/openid-configuration') return answer(200, metadata);
    forms.push(asked);
    if (asked.path === '/oauth/device_authorization') return answer(200, device);
    const next = polls[polledAt.length] ?? refusal('authorization_pending');
    polledAt.push(clock.monotonic() / 1000);
    if (next instanceof Error) throw next;
    return next;
  };
  const interrupt: { act?: () => void } = {};
  const onInterrupt = (act: () => void) => {
    interrupt.act = act;
    return () => {};
  };
  const who = { server: SERVER, clientId: 'gatehouse', clientSecret: 'gatehouse' };
  const tokens = new TokenClient({ ...who, calls: { call } as never, clock });
  const session = signInByDevice({
    calls: { call },
    tokens,
    clock,
    server: SERVER,
    complain: (line) => said.push(line),
    onInterrupt,
  });
  session.catch(() => {});
  return { session, clock, said, polledAt, forms, interrupt };
}

describe('a sign-in by device', () => {
  test('D-07 shows address and code, and polls until the person has allowed it', async () => {
    const polls = [refusal('authorization_pending'), refusal('authorization_pending'), answer(200, TOKENS)];
    const { session, clock, said, polledAt, forms } = begin({ polls });
    await clock.advance(15_000);
    expect(await session).toMatchObject({ username: 'ada', accessToken: TOKENS.access_token });
    expect(said).toEqual([
      `open ${SERVER}/oauth/device in a browser, on any device, and enter the code WDJB-MJHT, or open ${SERVER}/oauth/device?user_code=WDJB-MJHT; it is valid for 10 min`,
    ]);
    expect(polledAt).toEqual([5, 10, 15]);
    expect(forms.map(({ form }) => form?.['device_code'])).toEqual([undefined, 'sealed', 'sealed', 'sealed']);
  });

  test.each([
    ['says slow_down', refusal('slow_down')],
    ['is busy', refusal('server_error', 503)],
    ['throttles', refusal('too_many', 429)],
    ['does not answer', new NoAnswerError('lost')],
  ])('D-07 polls 5 s more slowly when the server %s', async (_, slow) => {
    const { session, clock, polledAt } = begin({ polls: [slow, slow, answer(200, TOKENS)] });
    await clock.advance(30_000);
    expect((await session).username).toBe('ada');
    expect(polledAt).toEqual([5, 15, 30]);
  });

  test.each([
    ['access_denied', `the sign-in at ${SERVER} was refused`],
    ['expired_token', `nobody has entered the code at ${SERVER} in time: sign in again`],
    ['invalid_grant', `nobody has entered the code at ${SERVER} in time: sign in again`],
    ['unauthorized_client', `${SERVER} does not let the client "gatehouse" sign people in: see --client-id`],
  ])('D-07 ends with %s', async (error, message) => {
    const { session, clock } = begin({ polls: [refusal(error)] });
    await clock.advance(5_000);
    await expect(session).rejects.toThrow(message);
  });

  test('D-07 ends with the code, whatever the server says', async () => {
    const { session, clock, polledAt } = begin({ device: { ...DEVICE, expires_in: 20 } });
    await clock.advance(25_000);
    await expect(session).rejects.toThrow('nobody has entered the code');
    expect(polledAt).toEqual([5, 10, 15, 20]);
  });

  test('D-07 is interrupted by Ctrl-C, and polls no more', async () => {
    const { session, clock, interrupt, polledAt } = begin({});
    await clock.advance(5_000);
    interrupt.act?.();
    await expect(session).rejects.toThrow('interrupted: nobody was signed in');
    await clock.advance(60_000);
    expect([polledAt, clock.pendingTimers]).toEqual([[5], 0]);
  });

  test('D-07 is refused where the server has none', async () => {
    const { session, said } = begin({ metadata: { issuer: `${SERVER}/oauth` } });
    await expect(session).rejects.toThrow(`${SERVER} has no sign-in by device`);
    expect(said).toEqual([]);
  });

  test.each([
    ['no code', { device_code: undefined }],
    ['a code that commands the terminal', { user_code: '\u001b[2J' }],
    ['an address that is none', { verification_uri: 'javascript:alert(1)' }],
    ['no end', { expires_in: undefined }],
    ['an interval below zero', { interval: -1 }],
  ])('D-07 shows nothing of an answer with %s', async (_, change) => {
    const { session, said } = begin({ device: { ...DEVICE, ...change } });
    await expect(session).rejects.toThrow('is it the address of Gatehouse?');
    expect(said).toEqual([]);
  });

  test('D-07 waits 5 s and shows the address alone when the server names no more', async () => {
    const { verification_uri_complete: _, interval: __, ...device } = DEVICE;
    const { session, clock, said, polledAt } = begin({ device, polls: [answer(200, TOKENS)] });
    await clock.advance(5_000);
    await session;
    expect([polledAt, said[0]]).toEqual([[5], expect.stringMatching(/the code WDJB-MJHT; it is valid/)]);
  });
});
