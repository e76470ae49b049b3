import { describe, expect, test } from 'vitest';
import { createStatusPatch } from '../../../src/accounts/states/status-patch.ts';
import { MemoryObjects } from '../../support/accounts/memory-objects.ts';

function start() {
  const users = new MemoryObjects();
  users.put({ metadata: { name: 'mia', uid: 'first', resourceVersion: '' }, status: { state: 'Active' } });
  return { users, patchStatus: createStatusPatch(users), status: () => users.peek('mia')?.['status'] };
}

describe('a status that is patched', () => {
  test('goes to the subresource again after the API server has missed it once', async () => {
    const { users, patchStatus, status } = start();
    users.lostStatus = 1;
    await expect(patchStatus('mia', { state: 'Disabled' })).rejects.toThrow('did not take the status over');
    expect(status()).toEqual({ state: 'Active' });
    await patchStatus('mia', { state: 'Disabled' });
    expect(status()).toEqual({ state: 'Disabled' });
  });

  test('is that of the object itself where there is no subresource, removed members included', async () => {
    const { users, patchStatus, status } = start();
    users.hasStatus = false;
    const patched = await patchStatus('mia', { state: null, lastLoginTime: '2026-03-09T10:00:00Z' }, { uid: 'first' });
    expect(status()).toEqual({ lastLoginTime: '2026-03-09T10:00:00Z' });
    expect(patched).toEqual(users.peek('mia'));
  });

  test.each([true, false])('is 404 for a user who is not there (status subresource: %s)', async (hasStatus) => {
    const { users, patchStatus } = start();
    users.hasStatus = hasStatus;
    await expect(patchStatus('bob', { state: 'Disabled' })).rejects.toMatchObject({ status: { code: 404 } });
  });
});
