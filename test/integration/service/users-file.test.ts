import { describe, expect, test } from 'vitest';
import { hashOf } from '../../support/passwords.ts';
import { startDrivenReady } from './driven.ts';
import { passwordOf, startCluster, startService, usersFile } from './stand.ts';

const REVOKED = 'Unauthorized: the access token has been revoked';
const NEW_PASSWORD = 'ada-other-password';

async function start() {
  const { service, clock } = await startDrivenReady(await startCluster());
  const pair = await service.signIn('ada');
  const taken = (): number => service.logged('the changed users file is in use').length;
  const write = async (text: string): Promise<void> => {
    const before = taken();
    service.gatehouse.writeUsers(text);
    await clock.until(taken, (count) => count > before);
  };
  return { service, clock, pair, write };
}

const withAda = async (change: object): Promise<string> =>
  JSON.stringify({
    users: [{ name: 'ada', groups: ['admins'], passwordHash: await hashOf(passwordOf('ada')), ...change }],
  });

describe('a change of the users file', () => {
  test('of a password ends the user’s sessions and lets the new password in', async () => {
    const { service, clock, pair, write } = await start();
    await write(await usersFile({ ada: NEW_PASSWORD }));
    expect((await service.list(pair.access_token)).body.message).toBe(REVOKED);
    expect((await service.refresh(pair.refresh_token)).status).toBe(400);
    expect((await service.signInAnswer('ada', passwordOf('ada'))).status).toBe(400);
    // In the second after: no token is issued in the one that cuts the old ones off.
    const { access_token: token } = await clock.during(service.signIn('ada', NEW_PASSWORD));
    expect((await service.list(token)).status).toBe(200);
  });

  test('of one user leaves the sessions of the others alone', async () => {
    const { service, write } = await start();
    const { access_token: token } = await service.signIn('joe');
    await write(await usersFile({ ada: NEW_PASSWORD }));
    expect((await service.list(token)).status).toBe(403);
  });

  test('that removes a user ends the user’s sessions', async () => {
    const { service, pair, write } = await start();
    await write(await usersFile({}, ['joe']));
    expect((await service.list(pair.access_token)).body.message).toBe(REVOKED);
  });

  test('that disables a user ends the sessions, and enabling revives none', async () => {
    const { service, clock, pair, write } = await start();
    await write(await withAda({ state: 'Disabled' }));
    expect((await service.list(pair.access_token)).body.message).toBe(REVOKED);
    await write(await withAda({ state: 'Active' }));
    expect((await service.list(pair.access_token)).body.message).toBe(REVOKED);
    expect((await service.refresh(pair.refresh_token)).status).toBe(400);
    expect((await clock.during(service.signInAnswer('ada', passwordOf('ada')))).status).toBe(200);
  });

  test('that brings a removed user back revives no session', async () => {
    const { service, pair, write } = await start();
    await write(await usersFile({}, ['joe']));
    await write(await usersFile());
    expect((await service.list(pair.access_token)).body.message).toBe(REVOKED);
  });

  test('of groups counts for live tokens', async () => {
    const { service, pair, write } = await start();
    expect((await service.list(pair.access_token)).status).toBe(200);
    await write(await withAda({ groups: [] }));
    expect((await service.list(pair.access_token)).status).toBe(403);
  });

  test('that cannot be used changes nothing, and is logged and counted once', async () => {
    const { service, clock, pair } = await start();
    service.gatehouse.writeUsers('users: [{name: Ada}, {nme: joe}]');
    const counted = () => service.metric('gatehouse_users_file_reloads_total{result="invalid"}');
    await clock.until(counted, (count) => count > 0);
    await clock.advance(60_000);
    expect(await counted()).toBe(1);
    expect(service.logged('the changed users file is not taken: the last good one stays')).toHaveLength(1);
    expect((await service.list(pair.access_token)).status).toBe(200);
    expect((await service.signInAnswer('ada', passwordOf('ada'))).status).toBe(200);
  });

  test.each([
    ['10,000 groups', { groups: Array.from({ length: 10_000 }, (_, at) => `group-${at}`) }],
    ['1 MB', { groups: ['g'.repeat(1e6)] }],
  ])('A-46 that makes one user an object of %s leaves all users as they were, and is counted', async (_, weapon) => {
    const { service, clock, pair } = await start();
    const users = JSON.parse(await usersFile()).users as object[];
    const passwordHash = await hashOf(passwordOf('ada'));
    service.gatehouse.writeUsers(JSON.stringify({ users: [...users, { name: 'eve', passwordHash, ...weapon }] }));
    const counted = () => service.metric('gatehouse_users_file_reloads_total{result="invalid"}');
    expect(await clock.until(counted, (count) => count > 0)).toBe(1);
    expect((await service.list(pair.access_token)).status).toBe(200);
    expect((await service.signInAnswer('joe', passwordOf('joe'))).status).toBe(200);
    expect((await service.signInAnswer('eve', passwordOf('ada'))).status).toBe(400);
    const [line] = service.logged('the changed users file is not taken: the last good one stays');
    expect(JSON.stringify(line).length).toBeLessThan(1_024);
    expect(JSON.stringify(line)).toContain('"path":"users[2].groups"');
  });

  test('of a password while the program was down ends the sessions as well', async () => {
    const cluster = await startCluster();
    const before = await startService(cluster);
    const [ada, joe] = [await before.signIn('ada'), await before.signIn('joe')];
    await before.gatehouse.stop();
    const after = await startService(cluster, { users: await usersFile({ ada: NEW_PASSWORD }) });
    expect((await after.list(ada.access_token)).body.message).toBe(REVOKED);
    expect((await after.refresh(ada.refresh_token)).status).toBe(400);
    expect((await after.list(joe.access_token)).status).toBe(403);
  });
});
