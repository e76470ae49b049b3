import { createHmac } from 'node:crypto';
import type { JWK } from 'jose';
import { newKeyData, readKeyData, type StoredKey } from '../../src/oauth/keys/signing-key-data.ts';
import { isPlainRs256, isSigned, splitCompactJws } from '../../src/oauth/tokens/compact-jws.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import { parseStrictObject } from '../../src/runtime/text/strict-json.ts';
import type { Vector } from '../support/wycheproof.ts';

/** What a vector came to: the first step of ours that refused it, or that none did. */
type Outcome = 'text' | 'header' | 'key' | 'signature' | 'accepted';

const ownData = newKeyData(Date.parse('2026-03-09T09:00:00Z'), systemRandom);

/** The key as we would read it from the Secret of the signing keys, where it stands beside one of ours. */
async function readAsOurs(jwk: JWK): Promise<StoredKey | undefined> {
  const data = await ownData;
  const { keys } = JSON.parse(data['keys.json']?.toString() ?? '') as { keys: readonly object[] };
  const entry = { state: 'verify-only', since: '2026-03-09T09:00:00Z', jwk };
  const read = await readKeyData({ ...data, 'keys.json': Buffer.from(JSON.stringify({ keys: [...keys, entry] })) });
  return 'fault' in read ? undefined : read.keys.find((key) => key.state === 'verify-only');
}

/**
 * The steps of our verification on a token that is not ours: all that is asked of a text, its header, the keys and the
 * signature. Left out is only what no vector has: our `typ`, a thumbprint as `kid`, and claims.
 */
export async function verifyInSteps({ text, keys }: Pick<Vector, 'text' | 'keys'>): Promise<Outcome> {
  const parts = splitCompactJws(text);
  if (!parts) return 'text';
  const header = parseStrictObject(parts.header);
  if (!header || !isPlainRs256(header)) return 'header';
  const read = (await Promise.all(keys.map(readAsOurs))).filter((key) => key !== undefined);
  if (read.length === 0) return 'key';
  return read.some((key) => isSigned(parts, key.publicKey)) ? 'accepted' : 'signature';
}

/** Our rules for texts alone, with the HMAC of vectors that use one: most vectors of odd texts are of that kind. */
export function isTextSignedByHmac({ text, keys }: Pick<Vector, 'text' | 'keys'>): boolean {
  const parts = splitCompactJws(text);
  const header = parts && parseStrictObject(parts.header);
  if (!parts || header?.['alg'] !== 'HS256') return false;
  return keys.some(({ k = '' }) => {
    const mac = createHmac('sha256', Buffer.from(k, 'base64url')).update(parts.signingInput).digest();
    return mac.equals(parts.signature);
  });
}
