import assert from 'node:assert/strict';
import type { SecretStore } from '../../../src/secret-store.ts';
import { MemorySecrets } from '../oauth/memory-secrets.ts';

async function countUp(secrets: SecretStore): Promise<void> {
  const stored = await secrets.read('counter');
  const data = { count: Buffer.from(`${Number(stored?.data['count'] ?? 0) + 1}`) };
  const outcome = stored
    ? await secrets.update('counter', data, stored.version)
    : await secrets.create('counter', data);
  // Somebody else was faster: decide again on what they wrote.
  if (outcome === 'exists' || outcome === 'conflict') await countUp(secrets);
}

const secrets = new MemorySecrets(); // test/unit/oauth/memory-secrets.ts
await Promise.all([countUp(secrets), countUp(secrets)]);
const counter = await secrets.read('counter');
assert.equal(counter?.data['count']?.toString(), '2');
