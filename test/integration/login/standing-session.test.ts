import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SavedSession } from '../../../src/cli/login/session.ts';
import { startCluster, startService } from '../service/stand.ts';
import { execInfo, Machine, requestsTo } from './signing-in.ts';

const MINUTE_MS = 60_000;
const AS_PLUG_IN = { args: ['--username', 'ada'], environment: { KUBERNETES_EXEC_INFO: execInfo() } };

async function signedIn() {
  const service = await startService(await startCluster());
  const server = service.gatehouse.origin;
  const machine = new Machine(server);
  await machine.signIn();
  const { loads } = machine;
  const state = join(machine.home, '.local', 'state', 'gatehouse');
  const file = join(state, readdirSync(state)[0] ?? '');
  const change = (changes: Partial<SavedSession>) =>
    writeFileSync(file, JSON.stringify({ ...machine.session(), ...changes }));
  return { service, server, machine, file, change, loadsOf: () => machine.loads - loads };
}

describe('a call with a session that stands', () => {
  test.each([
    ['as a plug-in', AS_PLUG_IN],
    ['for a token', { args: ['--username', 'ada', '--print', 'token'] }],
  ])('K-12 %s loads nothing that asks the server or a person', async (_how, run) => {
    const { machine, service, loadsOf } = await signedIn();
    const { printed, said } = await machine.run('login', run);
    expect([printed.length, said, loadsOf()]).toEqual([1, [], 0]);
    expect(printed[0]).toContain(machine.session().accessToken);
    expect(requestsTo(service, '/oauth/userinfo')).toBe(0);
  });

  test.each<readonly [string, Partial<SavedSession>]>([
    ['whose token is no longer given to clients', { goodUntil: Date.now() }],
    ['that was checked more than a minute ago', { checkedAt: Date.now() - 2 * MINUTE_MS }],
    ['that was checked by a clock that is ahead', { checkedAt: Date.now() + 60 * MINUTE_MS }],
  ])('K-12 is not one with a session %s: the server is asked', async (_what, changes) => {
    const { machine, change, loadsOf, service } = await signedIn();
    change(changes);
    const token = await machine.token();
    expect([loadsOf(), token]).toEqual([1, machine.session().accessToken]);
    expect((await service.list(token)).status).toBe(200);
  });

  test('K-01 prints nothing for a client that wants another version of ExecCredential', async () => {
    const { machine } = await signedIn();
    const environment = { KUBERNETES_EXEC_INFO: execInfo('v1alpha1') };
    await expect(machine.run('login', { ...AS_PLUG_IN, environment })).rejects.toThrow(
      'the client wants an ExecCredential of client.authentication.k8s.io/v1alpha1',
    );
  });

  test('K-12 is not one by hand: the server is asked', async () => {
    const { machine, loadsOf } = await signedIn();
    await machine.run('login', { args: ['--username', 'ada'] });
    expect(loadsOf()).toBe(1);
  });
});

/** What may be wrong with the file, how it becomes so, and what is said about it. */
const BAD: readonly (readonly [string, (file: string) => void, RegExp])[] = [
  ['that others can read', (file) => chmodSync(file, 0o644), /has mode 0644, so others may know its tokens/],
  ['that is a symbolic link', replaced((file, copy) => symlinkSync(copy, file)), /is a symbolic link/],
  ['that is a named pipe', replaced((file) => execFileSync('mkfifo', ['-m', '600', file])), /is not a session file/],
  ['that is too large', rewritten((text) => text.padEnd(65_537)), /is not a session file/],
  ['that is no JSON', rewritten((text) => text.slice(1)), /is not a session file/],
  ['without a time', rewritten((text) => text.replace('goodUntil', 'good')), /is not a session file/],
  ['of another server', rewritten((text) => text.replace('http:', 'https:')), /is the session of ada at https:/],
  ['of another client', rewritten((text) => text.replace('"gatehouse"', '"other"')), /is the session of ada at/],
  ['of another user', rewritten((text) => text.replace('"ada"', '"joe"')), /is the session of joe at/],
];

function rewritten(change: (text: string) => string): (file: string) => void {
  return (file) => writeFileSync(file, change(readFileSync(file, 'utf8')));
}

function replaced(put: (file: string, copy: string) => void): (file: string) => void {
  return (file) => {
    const copy = join(file, '..', '..', 'copy.json');
    writeFileSync(copy, readFileSync(file), { mode: 0o600 });
    rmSync(file);
    put(file, copy);
  };
}

describe('a session file', () => {
  test.each(BAD)('K-04 %s is refused alike by a plug-in, by hand and at a sign-out', async (_what, spoil, fault) => {
    const { machine, file, service } = await signedIn();
    spoil(file);
    const message = await machine.run('login', AS_PLUG_IN).catch((error: Error) => error.message);
    expect(message).toMatch(fault);
    const { args } = AS_PLUG_IN;
    for (const action of ['login', 'logout'] as const)
      await expect(machine.run(action, { args })).rejects.toThrow(message as string);
    expect([requestsTo(service, '/oauth/userinfo'), requestsTo(service, '/oauth/revoke')]).toEqual([0, 0]);
  });
});
