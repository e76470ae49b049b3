import { describe, expect, test } from 'vitest';
import { type CheckedToken, createVerifiedTokens } from '../../../../src/oauth/tokens/token-verifier.ts';
import { systemRandom } from '../../../../src/runtime/random.ts';

const tokenOf = (kid: string): CheckedToken => ({ kid, claims: {} as CheckedToken['claims'], endsAt: 0 });

describe('the tokens that were verified', () => {
  test('are known by their exact text', () => {
    const tokens = createVerifiedTokens(systemRandom);
    const token = tokenOf('a');
    tokens.add('header.claims.signature', token);
    expect(tokens.get('header.claims.signature')).toBe(token);
    for (const other of ['header.claims.signaturE', 'header.claims.signature ', 'header.claims.', ''])
      expect(tokens.get(other)).toBeUndefined();
    tokens.drop('header.claims.signature');
    expect(tokens.get('header.claims.signature')).toBeUndefined();
  });

  test('are 32,000 at most: the oldest is forgotten first', () => {
    const tokens = createVerifiedTokens(systemRandom);
    for (let index = 0; index <= 32_000; index++) tokens.add(`token-${index}`, tokenOf(String(index)));
    expect(tokens.get('token-0')).toBeUndefined();
    expect(tokens.get('token-1')?.kid).toBe('1');
    expect(tokens.get('token-32000')?.kid).toBe('32000');
  });
});
