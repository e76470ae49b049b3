import { constants, type KeyObject, sign } from 'node:crypto';
import { readKeyData } from '../../src/oauth/keys/signing-key-data.ts';

const toPart = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** Makes a token with exactly this header and these claims (objects, or JSON text). It is signed with RS256, whatever the header says. */
export function forgeToken(key: KeyObject, header: unknown, claims: unknown): string {
  const input = `${toPart(header)}.${toPart(claims)}`;
  const signature = sign('sha256', Buffer.from(input), { key, padding: constants.RSA_PKCS1_PADDING });
  return `${input}.${signature.toString('base64url')}`;
}

/** The private signing key in the data of the Secret, as an attacker who has stolen the Secret would have it. */
export async function signingKeyOf(data: Readonly<Record<string, Buffer>>): Promise<KeyObject> {
  const keySet = await readKeyData(data);
  if ('fault' in keySet) throw new Error(keySet.fault);
  return keySet.active.privateKey;
}
