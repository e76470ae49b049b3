import { expect } from 'vitest';
import type { ControlPlane } from '../support/control-plane.ts';
import type { Person, Replica } from './replica.ts';
import type { Replicas } from './replicas.ts';
import { dumpSecrets, stringsOf, textsOf } from './secret-dump.ts';

/** Three long parts of base64url with dots between. */
const JWT_SHAPED = /[\w-]{16,}\.[\w-]{16,}\.[\w-]{16,}/;

/** Header values may have no other characters, so a string with others cannot be a bearer. */
const HEADER_TEXT = /^[\x21-\x7e]+$/;

/**
 * Reading every Secret except the signing keys and the first administrator's password gives nobody a token or a
 * password: none of those issued in this run is in there, in any part or encoding, and every string in there is
 * refused.
 */
export async function expectUnusableSecrets(cluster: ControlPlane, { all, people, tokens }: Replicas): Promise<void> {
  const secrets = await dumpSecrets(cluster);
  expect(secrets.length).toBeGreaterThan(0);
  const texts = secrets.flatMap(textsOf);
  expect(texts.filter((text) => JWT_SHAPED.test(text))).toEqual([]);
  const parts = [...tokens].flatMap((token) => [token, token.split('.')[2] ?? token]);
  const given = [...parts, ...people.map(({ password }) => password)].flatMap((text) => [text, ...encodings(text)]);
  const whole = texts.join('\n');
  expect(given.filter((text) => whole.includes(text))).toEqual([]);

  let tried = 0;
  for (const secret of secrets) {
    const owner = people.find(({ name }) => stringsOf(secret).includes(name));
    const strings = [...new Set(stringsOf(secret))].filter((text) => text !== '');
    expect(await takenFrom(strings, { replica: all[0], owner })).toEqual([]);
    tried += strings.length;
  }
  console.log(`${secrets.length} Secrets: none holds one of ${tokens.size} tokens, none of ${tried} strings is taken`);
}

/**
 * This many strings of each Secret are tried as a password, since each takes a bcrypt compare of 50 ms. All ids of
 * sessions look alike.
 */
const PASSWORDS = 6;

/** The strings that are accepted anywhere: as bearer, as refresh token, or as the password of the record's owner. */
async function takenFrom(
  strings: readonly string[],
  { replica, owner }: { replica: Replica; owner?: Person | undefined },
) {
  const isTaken = async (text: string, index: number): Promise<boolean> => {
    const bearer = HEADER_TEXT.test(text) ? await replica.judge(text) : 401;
    const refresh = await replica.refresh(text);
    const isTried = owner !== undefined && index < PASSWORDS;
    const signIn = isTried ? await replica.signInAnswer({ ...owner, password: text }) : undefined;
    return [bearer, refresh.status, signIn?.status].includes(200);
  };
  const answers = await Promise.all(strings.map(isTaken));
  return strings.filter((_, index) => answers[index]);
}

/**
 * The text as it would look inside a Secret's data: base64 at three offsets, without the characters that depend on its
 * neighbours.
 */
const encodings = (text: string): string[] =>
  [0, 1, 2].map((offset) => {
    const base64 = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]).toString('base64');
    return base64.slice(offset === 0 ? 0 : 4, Math.floor((offset + text.length) / 3) * 4);
  });
