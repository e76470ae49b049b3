import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';
import { CLIENT, eventually, passwordOf, startCluster, startService, usersFile } from '../service/stand.ts';
import { execInfo, Machine, requestsTo } from './signing-in.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

async function start(change: Parameters<typeof startService>[1] = {}) {
  const service = await startService(await startCluster(), change);
  return { service, machine: new Machine(service.gatehouse.origin), server: service.gatehouse.origin };
}

async function signedIn(change: Parameters<typeof startService>[1] = {}) {
  const parts = await start(change);
  const { said } = await parts.machine.signIn();
  return { ...parts, said };
}

describe('the first sign-in', () => {
  test('K-01 by a password file says who is signed in until when, and prints nothing', async () => {
    const { machine, server } = await start();
    const { printed, said } = await machine.signIn();
    expect(printed).toEqual([]);
    const time = `${new Date(machine.session().goodUntil).toISOString().slice(0, 19)}Z`;
    expect(said).toEqual([
      `signed in at ${server} as ada; the token is valid until ${time} and renewed while it is used`,
    ]);
  });

  test('K-06 asks the terminal for name and password', async () => {
    const { machine } = await start();
    const { said } = await machine.run('login', { typed: ['ada', passwordOf('ada')] });
    expect(said[0]).toContain(' as ada; ');
    const again = await machine.run('login', { args: ['--print', 'token'] });
    expect(again.printed).toEqual([machine.session().accessToken]);
  });

  test.each(['v1', 'v1beta1'])(
    'K-01 as a plug-in prints an ExecCredential of %s, whose token is let in',
    async (version) => {
      const { machine, service } = await start();
      const { printed, said } = await machine.run('login', {
        args: ['--username', 'ada', '--password-file', machine.passwordFile(passwordOf('ada'))],
        environment: { KUBERNETES_EXEC_INFO: execInfo(version) },
      });
      const { accessToken, goodUntil } = machine.session();
      expect(said).toEqual([]);
      expect(printed.map((line) => JSON.parse(line))).toEqual([
        {
          kind: 'ExecCredential',
          apiVersion: `client.authentication.k8s.io/${version}`,
          spec: {},
          status: { expirationTimestamp: `${new Date(goodUntil).toISOString().slice(0, 19)}Z`, token: accessToken },
        },
      ]);
      expect((await service.list(accessToken)).status).toBe(200);
      const left = goodUntil - Date.now();
      expect(left).toBeLessThanOrEqual(2 * HOUR_MS - 30_000);
      expect(left).toBeGreaterThan(2 * HOUR_MS - 2 * MINUTE_MS);
    },
  );

  test('K-05 with a wrong password is one sentence without it', async () => {
    const { machine, server } = await start();
    const args = ['--username', 'ada', '--password-file', machine.passwordFile('wrong-canary')];
    await expect(machine.run('login', { args })).rejects.toThrow(
      new RegExp(`^wrong user name or password for ada at ${server}$`),
    );
  });

  test('K-05 after too many failures says when to try again', async () => {
    const config = { authentication: { authenticateRateLimiterMaxTries: 1 } };
    const { machine, server } = await start({ config });
    const args = ['--username', 'ada', '--password-file', machine.passwordFile('wrong')];
    await expect(machine.run('login', { args })).rejects.toThrow('wrong user name or password');
    await expect(machine.run('login', { args })).rejects.toThrow(
      new RegExp(`^too many attempts at ${server}, right or wrong: try again in \\d+ s$`),
    );
  });

  test('K-05 with an unknown client, or one that may not sign people in, names the option', async () => {
    const clients = [
      { name: 'cli', secret: 'a-secret-of-the-cli', grantTypes: ['refresh_token'] },
      { name: 'gatehouse', secret: 'another-secret-of-16' },
    ];
    const { machine, server } = await start({ config: { authentication: { oauthOptions: { clients } } } });
    await expect(machine.signIn()).rejects.toThrow(
      `${server} does not take the client "gatehouse" with this secret: see --client-id and --client-secret-file`,
    );
    const password = ['--username', 'ada', '--password-file', machine.passwordFile(passwordOf('ada'))];
    const args = [...password, '--client-id', 'cli', '--client-secret-file'];
    const secret = new Machine(server).passwordFile('a-secret-of-the-cli');
    await expect(machine.run('login', { args: [...args, secret] })).rejects.toThrow(
      `${server} does not let the client "cli" sign people in: see --client-id`,
    );
  });
});

describe('a session that is kept', () => {
  test('K-02 answers for a minute without asking the server, then once', async () => {
    const { machine, service } = await signedIn();
    const before = service.logged('request').length;
    const token = machine.session().accessToken;
    expect(await machine.token()).toBe(token);
    expect(service.logged('request').length).toBe(before);
    machine.aheadMs = MINUTE_MS + 1_000;
    expect(await machine.token()).toBe(token);
    expect(await machine.token()).toBe(token);
    await eventually(
      () => requestsTo(service, '/oauth/userinfo'),
      (count) => count === 1,
    );
  });

  test('by hand is asked about each time', async () => {
    const { machine, service } = await signedIn();
    await machine.run('login', { args: ['--username', 'ada'] });
    await eventually(
      () => requestsTo(service, '/oauth/userinfo'),
      (count) => count === 1,
    );
  });

  test('K-02 is refreshed before its token ends', async () => {
    const { machine, service } = await signedIn();
    const first = machine.session();
    machine.aheadMs = 2 * HOUR_MS - MINUTE_MS;
    expect(await machine.token()).toBe(first.accessToken);
    machine.aheadMs = 2 * HOUR_MS - 29_000;
    const token = await machine.token();
    const second = machine.session();
    expect(token).toBe(second.accessToken);
    expect(second.refreshToken).not.toBe(first.refreshToken);
    expect((await service.list(token)).status).toBe(200);
    expect(service.logged('sign-in')).toHaveLength(1);
  });

  test('K-02 that has ended at the server signs in again by the password file, within a minute', async () => {
    const { machine, service } = await signedIn();
    const { accessToken, refreshToken } = machine.session();
    await service.call('/oauth/revoke', { form: { ...CLIENT, token: refreshToken } });
    machine.aheadMs = MINUTE_MS + 1_000;
    const token = await machine.token({ args: ['--password-file', machine.passwordFile(passwordOf('ada'))] });
    expect(token).not.toBe(accessToken);
    expect((await service.list(token)).status).toBe(200);
  });

  test('K-06 that has ended asks the terminal again, when the client leaves it free', async () => {
    const { machine, service, server } = await signedIn();
    await service.call('/oauth/revoke', { form: { ...CLIENT, token: machine.session().refreshToken } });
    machine.aheadMs = 3 * HOUR_MS;
    const run = 'and there is no terminal to ask for the password: run gatehouse login';
    const typed = [passwordOf('ada')];
    for (const attempt of [{}, { typed }])
      await expect(machine.token(attempt)).rejects.toThrow(
        `the session of ada at ${server} has ended, ${run} --server ${server} --username ada`,
      );
    const environment = { KUBERNETES_EXEC_INFO: execInfo('v1', true) };
    expect((await service.list(await machine.token({ typed, environment }))).status).toBe(200);
  });

  test('K-02 ends with the password of the user', async () => {
    const { machine, service } = await signedIn();
    service.gatehouse.writeUsers(await usersFile({ ada: 'a-new-canary-password' }));
    await eventually(
      () => service.list(machine.session().accessToken),
      ({ status }) => status === 401,
    );
    await expect(machine.run('login', { args: ['--username', 'ada'] })).rejects.toThrow('the session of ada');
  });

  test('is given to a client while the server cannot be asked; by hand it is told', async () => {
    const { machine, service, server } = await signedIn();
    const token = machine.session().accessToken;
    machine.aheadMs = MINUTE_MS + 1_000;
    await service.gatehouse.stop();
    expect(await machine.token()).toBe(token);
    await expect(machine.run('login', { args: ['--username', 'ada'] })).rejects.toThrow(`nothing answers at ${server}`);
    machine.aheadMs = 2 * HOUR_MS;
    await expect(machine.token()).rejects.toThrow(`nothing answers at ${server}`);
  });

  test('K-02 is one for runs that come at once, even when none respects the lock of another', async () => {
    const { machine } = await signedIn();
    machine.aheadMs = 2 * HOUR_MS; // so every lock looks as if it had been left behind
    const tokens = await Promise.all(Array.from({ length: 10 }, () => machine.token()));
    expect(new Set(tokens)).toEqual(new Set([machine.session().accessToken]));
  });
});

describe('signing out', () => {
  test('K-09 ends the session at the server and removes the file, without a token that is still good', async () => {
    const { machine, service, server } = await signedIn();
    const { accessToken } = machine.session();
    machine.aheadMs = 3 * HOUR_MS;
    const { said } = await machine.run('logout', { args: ['--username', 'ada'] });
    expect(said).toEqual([`signed out at ${server}`]);
    expect((await service.list(accessToken)).status).toBe(401);
    expect(() => machine.session()).toThrow();
    const again = await machine.run('logout', { args: ['--username', 'ada'] });
    expect(again.said).toEqual([`nobody is signed in at ${server}`]);
  });

  test('K-09 with --all ends the sessions on other machines', async () => {
    const { machine, service, server } = await signedIn();
    const other = await service.signIn('ada');
    const { said } = await machine.run('logout', { args: ['--username', 'ada', '--all'] });
    expect(said).toEqual([`every session at ${server} has ended`]);
    expect((await service.list(other.access_token)).status).toBe(401);
  });

  test('with --all renews the session first when its token is not good any more', async () => {
    const clock = { ...systemClock };
    const { machine, service } = await signedIn({ clock });
    clock.now = () => Date.now() + 3 * HOUR_MS;
    await machine.run('logout', { args: ['--username', 'ada', '--all'] });
    await eventually(
      () => requestsTo(service, '/oauth/logout'),
      (count) => count === 2,
    );
    expect(() => machine.session()).toThrow();
  });

  test('with --all from a session that has ended says so, and keeps the file', async () => {
    const { machine, service } = await signedIn();
    await service.call('/oauth/revoke', { form: { ...CLIENT, token: machine.session().refreshToken } });
    await expect(machine.run('logout', { args: ['--username', 'ada', '--all'] })).rejects.toThrow(
      'this session has ended',
    );
    expect(machine.session().username).toBe('ada');
  });

  test('K-09 keeps the file while the server cannot be reached', async () => {
    const { machine, service } = await signedIn();
    await service.gatehouse.stop();
    await expect(machine.run('logout', { args: ['--username', 'ada'] })).rejects.toThrow('nothing answers');
    expect(machine.session().username).toBe('ada');
  });
});

test('a server without TLS is warned about, unless it is loopback', async () => {
  const machine = new Machine('http://gatehouse.invalid');
  const { said } = await machine.run('logout');
  expect(said).toEqual([
    'warning: http://gatehouse.invalid is plain http: password and tokens can be read on the way',
    'nobody is signed in at http://gatehouse.invalid',
  ]);
});
