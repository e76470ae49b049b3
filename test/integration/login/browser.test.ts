import { chmodSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import { Browser } from '../../support/browser.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { Program } from '../service/program.ts';
import { eventually, passwordOf, startCluster, startService, usersFile } from '../service/stand.ts';
import { open, signInOnPage } from './person-at-browser.ts';
import { execInfo, Machine, requestsTo } from './signing-in.ts';

const ADA = { username: 'ada', password: passwordOf('ada') };
const byAda = (address: string) => signInOnPage(address, ADA);

async function start(change: Parameters<typeof startService>[1] = {}) {
  const service = await startService(await startCluster(), change);
  return { service, machine: new Machine(service.gatehouse.origin), server: service.gatehouse.origin };
}

/** Comes back to the program with these parameters, without having signed in. */
async function comeBack(address: string, change: (back: URLSearchParams, state: string) => void) {
  const asked = new URL(address).searchParams;
  const back = new URL(asked.get('redirect_uri') ?? '');
  change(back.searchParams, asked.get('state') ?? '');
  return open(back);
}

/** The issuer of a service in the tests. */
const issuerOf = async (server: string): Promise<string> =>
  ((await (await fetch(`${server}/.well-known/openid-configuration`)).json()) as { issuer: string }).issuer;

describe('signing in by browser', () => {
  test('D-06 D-07 works with nothing configured, and is the default where there is a browser', async () => {
    const { machine, service, server } = await start();
    let page = { status: 0, text: '' };
    const { printed, said } = await machine.run('login', {
      browse: async (address) => {
        page = await byAda(address);
      },
    });
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('You can close this window')]);
    expect(printed).toEqual([]);
    expect(said).toEqual([
      expect.stringContaining(`waiting for the sign-in at ${server} in the browser; if none opens, open on this`),
      expect.stringContaining(`signed in at ${server} as ada; `),
    ]);
    const { username, accessToken } = machine.session();
    expect(username).toBe('ada');
    expect((await service.list(accessToken)).status).toBe(200);
    machine.aheadMs = 2 * 3_600_000;
    expect(await machine.run('login', { args: ['--print', 'token'] })).toMatchObject({ printed: [expect.any(String)] });
  });

  test('D-07 gives the browser nothing but a challenge and a state that are new each time', async () => {
    const { machine } = await start();
    const addresses: URL[] = [];
    for (const username of ['ada', 'ada'])
      await machine
        .run('login', {
          args: ['--username', username],
          browse: async (address) => {
            addresses.push(new URL(address));
            await comeBack(address, (back, state) => back.set('state', state));
          },
        })
        .catch(() => {});
    const [first, second] = addresses.map(({ searchParams }) => searchParams);
    expect([...(first?.keys() ?? [])]).toEqual(
      'response_type client_id redirect_uri state code_challenge code_challenge_method login_hint'.split(' '),
    );
    expect(first?.get('redirect_uri')).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect([first?.get('login_hint'), first?.get('code_challenge_method')]).toEqual(['ada', 'S256']);
    for (const name of ['state', 'code_challenge']) expect(first?.get(name)).not.toBe(second?.get(name));
  });

  test('D-06 asks a person who is signed in already, and not for the password', async () => {
    const { machine } = await start();
    const browser = new Browser();
    const nobody = { username: '', password: '' };
    await machine.run('login', { browse: (address) => signInOnPage(address, ADA, browser) });
    const other = ['--session-file', join(machine.home, 'other.json')];
    const asked: string[] = [];
    const { said } = await machine.run('login', {
      args: other,
      browse: async (address) => {
        asked.push((await browser.open(new URL(address))).text);
        await signInOnPage(address, nobody, browser);
      },
    });
    expect(said.at(-1)).toContain(' as ada; ');
    expect(asked).toEqual([expect.stringContaining('name="decision"')]);
    expect(asked[0]).not.toContain('name="password"');
  });

  test('D-07 ends when the person does not allow it', async () => {
    const { machine, server } = await start();
    const signIn = machine.run('login', {
      browse: async (address) => {
        const browser = new Browser();
        const page = await browser.submit(await browser.open(new URL(address)), ADA);
        const { location = '' } = (await browser.submit(page, { decision: 'deny' })).headers;
        await browser.open(new URL(location));
      },
    });
    await expect(signIn).rejects.toThrow(`the sign-in at ${server} failed: it was refused`);
  });

  test('D-07 is not ended by requests of others, and serves none after the answer', async () => {
    const { machine, server } = await start();
    const iss = await issuerOf(server);
    const seen: number[] = [];
    let gone: unknown;
    await machine.run('login', {
      browse: async (address) => {
        const asked = new URL(address).searchParams;
        const listener = new URL(asked.get('redirect_uri') ?? '');
        seen.push((await open(new URL('/favicon.ico', listener))).status);
        seen.push((await open(listener)).status);
        seen.push((await comeBack(address, (back) => back.set('code', 'x'))).status);
        seen.push((await comeBack(address, (back) => back.append('state', 'other'))).status);
        const { status } = await comeBack(address, (back, state) => {
          for (const value of [state, state]) back.append('state', value);
        });
        listener.search = new URLSearchParams({ state: asked.get('state') ?? '', iss, code: 'x' }).toString();
        seen.push(status, (await request(listener, { method: 'HEAD' })).statusCode);
        seen.push((await byAda(address)).status);
        gone = await open(listener).catch((error: Error) => error);
      },
    });
    expect(seen).toEqual([404, 404, 404, 404, 404, 404, 200]);
    expect(gone).toMatchObject({ code: 'ECONNREFUSED' });
  });

  test.each([
    ['it was refused', { error: 'access_denied', error_description: 'no' }],
    ['server_error: <b>bad</b>', { error: 'server_error', error_description: '<b>bad</b>' }],
    ['the answer has no code', {}],
  ])('D-07 fails with one sentence: %s', async (reason, parameters) => {
    const { machine, server, service } = await start();
    let page = '';
    const iss = await issuerOf(server);
    const signIn = machine.run('login', {
      browse: async (address) => {
        const { text } = await comeBack(address, (back, state) => {
          for (const [name, value] of Object.entries({ state, iss, ...parameters })) back.set(name, value);
        });
        page = text;
      },
    });
    await expect(signIn).rejects.toThrow(`the sign-in at ${server} failed: ${reason}`);
    expect(page).toContain('The sign-in failed');
    expect(page).not.toContain('<b>');
    expect(requestsTo(service, '/oauth/token')).toBe(0);
  });

  test('D-07 redeems no code that another server has sent', async () => {
    const { machine, server, service } = await start();
    for (const iss of ['https://evil.example/oauth', undefined]) {
      const signIn = machine.run('login', {
        browse: (address) =>
          comeBack(address, (back, state) => {
            back.set('state', state);
            back.set('code', 'x');
            if (iss) back.set('iss', iss);
          }),
      });
      await expect(signIn).rejects.toThrow(
        `the sign-in at ${server} failed: the answer does not name the server that was asked`,
      );
    }
    expect(requestsTo(service, '/oauth/token')).toBe(0);
  });

  test('D-07 says so when the server does not accept the code', async () => {
    const { machine, server } = await start();
    const iss = await issuerOf(server);
    const signIn = machine.run('login', {
      browse: (address) =>
        comeBack(address, (back, state) => {
          for (const [name, value] of Object.entries({ state, iss, code: 'made-up' })) back.set(name, value);
        }),
    });
    await expect(signIn).rejects.toThrow(`${server} does not accept the code that it has sent: sign in again`);
  });

  test('D-07 asks for the password where the server does not offer it, unless a browser is demanded', async () => {
    const typed = ['ada', passwordOf('ada')];
    const browse = () => Promise.reject(new Error('was opened'));
    const kubeSphere = await start({ config: { platform: 'kubesphere' } });
    const args = ['--client-id', 'kubesphere'];
    const { said } = await kubeSphere.machine.run('login', { typed, browse, args });
    expect(said).toEqual([expect.stringContaining(' as ada; ')]);
    const machine = new Machine(kubeSphere.server);
    await expect(machine.run('login', { typed, browse, args: [...args, '--browser'] })).rejects.toThrow(
      `${kubeSphere.server} has no sign-in by browser`,
    );
  });

  test('D-07 asks for the password where the server has it for other clients alone', async () => {
    const clients = [
      { name: 'gatehouse', secret: 'a-secret-of-sixteen' },
      { name: 'web', public: true, redirectURIs: ['https://app.example.com/callback'] },
    ];
    const { machine, server } = await start({ config: { authentication: { oauthOptions: { clients } } } });
    const browse = () => Promise.reject(new Error('was opened'));
    const secret = machine.passwordFile('a-secret-of-sixteen');
    const args = ['--client-secret-file', secret];
    await expect(machine.run('login', { browse, args: ['--browser', ...args] })).rejects.toThrow(
      `${server} does not sign people in by browser for the client "gatehouse"`,
    );
    const { said } = await machine.run('login', { typed: ['ada', passwordOf('ada')], browse, args });
    expect(said).toEqual([expect.stringContaining(' as ada; ')]);
  });

  test('D-07 opens no browser for a password file, and none with --no-browser', async () => {
    const { machine } = await start();
    const browse = () => Promise.reject(new Error('was opened'));
    const file = ['--username', 'ada', '--password-file', machine.passwordFile(passwordOf('ada'))];
    const byFile = await machine.run('login', { browse, args: file });
    const typed = await machine.run('login', {
      browse,
      typed: ['ada', passwordOf('ada')],
      args: ['--no-browser', '--session-file', join(machine.home, 'other.json')],
    });
    for (const { said } of [byFile, typed]) expect(said).toEqual([expect.stringContaining(' as ada; ')]);
  });

  test('D-07 ends the session of anybody but the user that the command line names', async () => {
    const file = JSON.parse(await usersFile());
    const users = file.users.map((user: { name: string }) => ({ ...user, email: `${user.name}@example.com` }));
    const { machine, server, service } = await start({ users: JSON.stringify({ users }) });
    let hint = '';
    const browse = async (address: string) => {
      hint = new URL(address).searchParams.get('login_hint') ?? '';
      await byAda(address);
    };
    await expect(machine.run('login', { browse, args: ['--username', 'joe'] })).rejects.toThrow(
      `ada has signed in at ${server} and not joe: nobody is signed in here`,
    );
    expect(hint).toBe('joe');
    await expect(machine.run('login', { browse, args: ['--username', 'joe@example.com'] })).rejects.toThrow(
      `ada has signed in at ${server} and not joe@example.com`,
    );
    await eventually(
      () => requestsTo(service, '/oauth/revoke'),
      (count) => count === 2,
    );
    const { said } = await machine.run('login', { browse, args: ['--username', 'ADA@example.com'] });
    expect(said.at(-1)).toContain(' as ada; ');
    expect(machine.session().username).toBe('ADA@example.com');
  });

  test('D-07 says why no browser was opened, and waits for a person who opens the address', async () => {
    const { machine } = await start();
    const { said } = await machine.run('login', {
      browse: async (address) => {
        await byAda(address);
        throw new Error('xdg-open has failed');
      },
    });
    expect(said[0]).toMatch(/ open on this machine: http:\/\/127\.0\.0\.1:\d+\/oauth\/authorize\?/);
    expect(said.join()).toContain('as ada;');
  });

  test.runIf(process.platform === 'linux')('D-07 listens on 127.0.0.1 and on no other address', async () => {
    const { machine } = await start();
    let elsewhere: unknown;
    await machine.run('login', {
      browse: async (address) => {
        const listener = new URL(new URL(address).searchParams.get('redirect_uri') ?? '');
        listener.hostname = '127.0.0.2'; // Linux has the whole network of 127.0.0.1
        elsewhere = await open(listener).catch((error: Error) => error);
        await byAda(address);
      },
    });
    expect(elsewhere).toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('D-07 is interrupted by Ctrl-C, and leaves no listener and no lock', async () => {
    const { machine } = await start();
    const stop = new AbortController();
    let listener = '';
    const signIn = machine.run('login', {
      interrupted: stop.signal,
      browse: async (address) => {
        listener = new URL(address).searchParams.get('redirect_uri') ?? '';
        stop.abort();
      },
    });
    await expect(signIn).rejects.toThrow('interrupted: nobody was signed in');
    await expect(open(new URL(listener))).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    const again = await machine.run('login', { browse: byAda });
    expect(again.said.at(-1)).toContain(' as ada; ');
  });
});

test('D-06 the built-in client takes any port of the three loopback hosts, as kubelogin needs it, and nothing else', async () => {
  const { server } = await start();
  const statusAt = async (redirect_uri: string): Promise<number> => {
    const pkce = { code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' };
    const query = { response_type: 'code', client_id: 'gatehouse', scope: 'openid', redirect_uri, ...pkce };
    return (await open(new URL(`${server}/oauth/authorize?${new URLSearchParams(query)}`))).status;
  };
  for (const good of ['http://localhost:8000', 'http://localhost:18000', 'http://127.0.0.1:1', 'http://[::1]:65535'])
    expect([good, await statusAt(good)]).toEqual([good, 200]);
  for (const bad of [
    'http://localhost:8000/callback',
    'https://localhost:8000',
    'http://localhost.evil.example:8000',
    'http://127.0.0.2:8000',
    'http://localhost:8000@evil.example',
  ])
    expect([bad, await statusAt(bad)]).toEqual([bad, 400]);
});

/** A program that waits for a browser which does nothing. */
async function waitingProgram() {
  const { server } = await start();
  const { folder: home, write } = temporaryFolder();
  chmodSync(write('xdg-open', '#!/bin/sh\n'), 0o700);
  const env = { HOME: home, PATH: home, DISPLAY: ':0' };
  const login = new Program(['login', '--server', server], { env });
  await eventually(
    () => login.output,
    (output) => output.includes('waiting for the sign-in'),
  );
  return { login, state: join(home, '.local/state/gatehouse') };
}

test.each(['SIGINT', 'SIGTERM'] as const)('D-07 the program ends at %s, and gives up port and lock', async (signal) => {
  const { login, state } = await waitingProgram();
  login.signal(signal);
  const { code, stderr } = await login.ended;
  expect([code, stderr.split('\n').at(-2)]).toEqual([1, 'gatehouse: interrupted: nobody was signed in']);
  expect(readdirSync(state)).toEqual([]);
});

test('D-07 the program opens the browser of the desktop, for kubectl without a terminal as well', async () => {
  const { service, server } = await start();
  const { folder: home, write } = temporaryFolder();
  const fake = join(import.meta.dirname, 'fake-browser.ts');
  const opener = write(
    'xdg-open',
    `#!/bin/sh\necho "$#" > '${home}/arguments'\nexec '${process.execPath}' '${fake}' "$1"\n`,
  );
  chmodSync(opener, 0o700);
  const env = { HOME: home, PATH: home, DISPLAY: ':0', USERNAME: ADA.username, PASSWORD: ADA.password };
  const login = new Program(['login', '--server', server], {
    env: { ...env, KUBERNETES_EXEC_INFO: execInfo('v1', false) },
  });
  const { code, stdout } = await login.ended;
  expect(code).toBe(0);
  const { status } = JSON.parse(stdout);
  expect((await service.list(status.token)).status).toBe(200);
});
