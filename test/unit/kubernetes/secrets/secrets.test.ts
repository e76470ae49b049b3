import { expect, test } from 'vitest';
import { ClusterError } from '../../../../src/kubernetes/client/api-client.ts';
import { ClusterSecrets, type ClusterSecretsParts } from '../../../../src/kubernetes/secrets/secrets.ts';

const FORBIDDEN = Buffer.from(JSON.stringify({ kind: 'Status', code: 403, reason: 'Forbidden', message: 'no' }));

test('a Secret that somebody else made needs no right to create it', async () => {
  let stored: object | undefined;
  const requests = {
    get: async () => stored,
    create: async () => {
      throw new ClusterError('POST', { status: 403, headers: {}, body: FORBIDDEN, bytes: FORBIDDEN.length });
    },
  };
  const secrets = new ClusterSecrets({ requests } as unknown as ClusterSecretsParts);
  await expect(secrets.create('keys', {})).rejects.toThrow(ClusterError);
  await secrets.read('keys');
  expect(secrets.missingRight('keys')).toBe('the cluster answers 403');
  stored = { metadata: { name: 'keys', namespace: 'ours', uid: 'u', resourceVersion: '1' }, data: {} };
  await secrets.read('keys');
  expect(secrets.missingRight('keys')).toBeUndefined();
});
