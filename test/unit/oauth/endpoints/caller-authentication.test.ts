import { describe, expect, test } from 'vitest';
import { createCallerAuthentication } from '../../../../src/oauth/endpoints/caller-authentication.ts';
import { systemRandom } from '../../../../src/runtime/random.ts';

const RIGHT = 'made-up-caller';
const start = (change: { callerAuth?: 'none'; token?: undefined } = {}) => {
  const { callerAuth = 'required', token } = { token: RIGHT, ...change };
  return createCallerAuthentication(
    { callerAuth, clientNames: ['front'] },
    { random: systemRandom, callerToken: () => token },
  );
};

const NOTHING = { authorization: undefined, certificateNames: [], hasShownCertificate: false };

describe('the caller of the TokenReview webhook', () => {
  test.each([
    ['the bearer', { ...NOTHING, authorization: `Bearer ${RIGHT}` }, { caller: 'bearer' }],
    [
      'a certificate of a listed name',
      { ...NOTHING, certificateNames: ['other', 'front'], hasShownCertificate: true },
      { caller: 'certificate' },
    ],
    [
      'a certificate of another name',
      { ...NOTHING, certificateNames: ['other'], hasShownCertificate: true },
      { fault: 'certificate_not_allowed' },
    ],
    ['another bearer', { ...NOTHING, authorization: 'Bearer wrong' }, { fault: 'wrong_bearer' }],
    [
      'a certificate of another authority',
      { ...NOTHING, hasShownCertificate: true },
      { fault: 'certificate_not_allowed' },
    ],
    ['nothing', NOTHING, { fault: 'no_credentials' }],
  ])('R-22 with %s is told for what it is', (_, proof, judged) => {
    expect(start()(proof)).toEqual(judged);
  });

  test('R-22 is anyone where everybody may ask', () => {
    expect(start({ callerAuth: 'none', token: undefined })(NOTHING)).toEqual({ caller: 'anyone' });
  });

  test.each(['Bearer', 'Bearer ', 'Bearer undefined', `Bearer ${RIGHT}`])(
    'is not let in by %j while no bearer is configured',
    (authorization) => {
      expect(start({ token: undefined })({ ...NOTHING, authorization })).toEqual({ fault: 'wrong_bearer' });
    },
  );

  test.each([`Basic ${RIGHT}`, `Digest ${RIGHT}`, RIGHT, `Bearer ${RIGHT.slice(0, -1)}`, `Bearer ${RIGHT}x`])(
    'is not let in by %j, which is not the bearer',
    (authorization) => {
      expect(start()({ ...NOTHING, authorization })).toEqual({ fault: 'wrong_bearer' });
    },
  );

  test('is known by its certificate before its bearer is looked at', () => {
    const caller = { authorization: 'Bearer wrong', certificateNames: ['front'], hasShownCertificate: true };
    expect(start()(caller)).toEqual({ caller: 'certificate' });
  });
});
