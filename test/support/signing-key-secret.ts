import type { NewObject } from '../../dev/cluster/kube-object.ts';
import { newKey, type StoredKey, withKeys } from '../../src/oauth/keys/signing-key-data.ts';
import { systemRandom } from '../../src/runtime/random.ts';

/**
 * The key of all clusters in a process that have a signing key from the start. They share it, because making an RSA key takes 50 ms of a
 * core.
 */
let key: Promise<StoredKey> | undefined;

/** The Secret of an earlier replica, with one key that is active since `sinceMs`. */
export async function signingKeySecret(sinceMs = Date.now()): Promise<NewObject> {
  key ??= newKey('active', 0);
  const active = { ...(await key), sinceMs };
  const data = await withKeys({ 'digest-key': systemRandom.bytes(32) }, [active]);
  const encoded = Object.entries(data).map(([name, bytes]) => [name, bytes.toString('base64')]);
  return {
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'gatehouse-signing-keys', namespace: 'default' } },
    ...{ type: 'Opaque', data: Object.fromEntries(encoded) },
  };
}
