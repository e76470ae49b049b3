import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { atEnd } from '../../support/at-end.ts';
import { passwordOf, startCluster, startService } from '../service/stand.ts';
import { allowDevice } from './person-at-browser.ts';
import { Machine } from './signing-in.ts';

const CLAIMS = Buffer.from(JSON.stringify({ username: 'ada' })).toString('base64url');
const TOKENS = { access_token: `x.${CLAIMS}.x`, refresh_token: 'r', expires_in: 7200 };

/** A server that has nothing but the device grant: the person allows it after the second poll. */
async function startDeviceServer() {
  const forms: Record<string, string>[] = [];
  const answerTo = async (request: IncomingMessage, origin: string): Promise<readonly [number, object]> => {
    if (request.method === 'GET') return [200, { issuer: `${origin}/oauth`, device_authorization_endpoint: 'x' }];
    const form = Object.fromEntries(new URLSearchParams(await text(request)));
    forms.push(form);
    const code = { device_code: 'sealed', user_code: 'WDJB-MJHT', verification_uri: `${origin}/oauth/device` };
    if (request.url === '/oauth/device_authorization') return [200, { ...code, expires_in: 600, interval: 0.01 }];
    return forms.length < 4 ? [400, { error: 'authorization_pending' }] : [200, TOKENS];
  };
  const server = createServer(async (request, response) => {
    const [status, body] = await answerTo(request, `http://${request.headers.host}`);
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  atEnd(() => void server.close());
  const address = server.address();
  return { origin: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`, forms };
}

test('D-07 a sign-in by device opens no browser here, and keeps the session', async () => {
  const { origin, forms } = await startDeviceServer();
  const machine = new Machine(origin);
  const { said } = await machine.run('login', {
    args: ['--device'],
    browse: () => Promise.reject(new Error('was opened')),
  });
  expect(said).toEqual([
    `open ${origin}/oauth/device in a browser, on any device, and enter the code WDJB-MJHT; it is valid for 10 min`,
    expect.stringContaining(`signed in at ${origin} as ada; `),
  ]);
  expect(machine.session()).toMatchObject({ username: 'ada', accessToken: TOKENS.access_token });
  const client = { client_id: 'gatehouse', client_secret: 'gatehouse' };
  const poll = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: 'sealed' };
  expect(forms).toEqual([client, ...[1, 2, 3].map(() => ({ ...client, ...poll }))]);
});

test('D-06 D-07 a sign-in by device works with nothing configured', async () => {
  const service = await startService(await startCluster());
  const machine = new Machine(service.gatehouse.origin);
  const allowed = Promise.withResolvers<void>();
  const { said } = await machine.run('login', {
    args: ['--device', '--username', 'ada'],
    // The address in it is that of the issuer, which is not where this server listens.
    told: (line) => {
      const query = /, or open \S+(\?[^;\s]+)/.exec(line)?.[1];
      if (query === undefined) return;
      const address = `${service.gatehouse.origin}/oauth/device${query}`;
      allowDevice(address, { username: 'ada', password: passwordOf('ada') }).then(
        () => allowed.resolve(),
        allowed.reject,
      );
    },
    sleep: () => allowed.promise,
  });
  expect(said.at(-1)).toContain(' as ada; ');
  expect((await service.list(machine.session().accessToken)).status).toBe(200);
});
