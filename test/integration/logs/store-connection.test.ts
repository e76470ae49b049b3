import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type CannedStore, foundBody } from '../../support/logs/canned-store.ts';
import { selfSigned } from '../../support/self-signed.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { eventually, type Service } from '../service/stand.ts';
import { startDrivenLogs, startOwnLogs, startOwnStore } from './logs-under-test.ts';

const FOUND: CannedStore['answer'] = () => ({ body: foundBody([], 3) });
const LIMITS = { maxLogQueries: 64, maxLogQueriesPerUser: 64 };

/** Replaces a file in one step. */
function write(path: string, text: string): string {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
  return path;
}

const logOf = ({ gatehouse }: Service): string => JSON.stringify(gatehouse.log);

describe('a store that is silent', () => {
  test('C-32 with 64 queries in flight leaves nodes and sign-ins as they are; one more is 429', async () => {
    const store = await startOwnStore(() => undefined);
    const logs = await startDrivenLogs({ logging: { host: store.url }, config: { limits: LIMITS } });
    const { ask, service, token, clock } = logs;
    const asking = Array.from({ length: 64 }, () => ask());
    await eventually(store.open, (open) => open === 64);
    expect((await service.list(token)).status).toBe(200);
    expect((await service.signIn('ada')).expires_in).toBeGreaterThan(0);
    expect(await service.readiness()).toBe(200);
    const { status, headers } = await ask();
    expect([status, headers.get('retry-after')]).toEqual([429, '1']);
    const answers = await clock.during(Promise.all(asking), 5_000);
    expect(answers.map(({ status: code }) => code)).toEqual(Array(64).fill(504));
    await eventually(store.open, (open) => open === 0);
    store.answer = FOUND;
    expect((await clock.during(ask())).status).toBe(200);
  });
});

describe('TLS', () => {
  const right = selfSigned('logs.example');
  const wrong = selfSigned('others.example');

  test('of a store whose certificate nobody vouches for is 503, and it is sent nothing', async () => {
    const store = await startOwnStore(FOUND, { tls: right });
    const caFile = write(join(temporaryFolder().folder, 'ca.pem'), wrong.cert);
    for (const logging of [{ host: store.url }, { host: store.url, caFile }]) {
      const { ask, service } = await startOwnLogs({ logging });
      expect((await ask()).status).toBe(503);
      expect(logOf(service)).toContain('self-signed certificate');
    }
    expect(store.asked).toEqual([]);
  });

  test('of a store with the right CA is answered', async () => {
    const store = await startOwnStore(FOUND, { tls: right });
    const caFile = write(join(temporaryFolder().folder, 'ca.pem'), right.cert);
    const { ask } = await startOwnLogs({ logging: { host: store.url, caFile } });
    expect((await ask()).body.query.total).toBe(3);
  });

  test('with a CA that was replaced is right from the next query on', async () => {
    const store = await startOwnStore(FOUND, { tls: right });
    const caFile = write(join(temporaryFolder().folder, 'ca.pem'), wrong.cert);
    const { ask, clock } = await startDrivenLogs({ logging: { host: store.url, caFile } });
    expect((await clock.during(ask())).status).toBe(503);
    write(caFile, right.cert);
    await clock.until(
      async () => (await clock.during(ask())).status,
      (status) => status === 200,
    );
  });

  test('with a CA file that was spoilt is 503, and right again when the file is', async () => {
    const store = await startOwnStore(FOUND, { tls: right });
    const caFile = write(join(temporaryFolder().folder, 'ca.pem'), right.cert);
    const { ask, clock } = await startDrivenLogs({ logging: { host: store.url, caFile } });
    const statusIs = (wanted: number) =>
      clock.until(
        async () => (await clock.during(ask())).status,
        (status) => status === wanted,
      );
    await statusIs(200);
    for (const text of ['-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n', 'half a fi', '']) {
      write(caFile, text);
      await statusIs(503);
      write(caFile, right.cert);
      await statusIs(200);
    }
  });

  test('is taken from anybody where verification is switched off', async () => {
    const store = await startOwnStore(FOUND, { tls: wrong });
    const { ask } = await startOwnLogs({ logging: { host: store.url, insecureSkipTLSVerify: true } });
    expect((await ask()).status).toBe(200);
  });
});

describe('credentials', () => {
  const basic = (password: string): string => `Basic ${Buffer.from(`canary-user:${password}`).toString('base64')}`;

  test('are those of the file, the new ones from the query after its change on', async () => {
    const passwordFile = write(join(temporaryFolder().folder, 'password'), 'first-canary\n');
    const store = await startOwnStore(FOUND);
    const logging = { host: store.url, username: 'canary-user', passwordFile };
    const { ask, clock } = await startDrivenLogs({ logging });
    const sent = async () => {
      await clock.during(ask());
      return store.asked.at(-1)?.headers.authorization;
    };
    expect(await sent()).toBe(basic('first-canary'));
    write(passwordFile, 'second-cänary');
    await clock.until(sent, (authorization) => authorization === basic('second-cänary'));
    writeFileSync(`${passwordFile}.gone`, '');
    renameSync(passwordFile, `${passwordFile}.gone`);
    await clock.spend(5_000);
    expect(await sent()).toBe(basic('second-cänary'));
  });

  test('A-45 and the place of the store are in no answer, and credentials in no line of the log', async () => {
    const passwordFile = write(join(temporaryFolder().folder, 'password'), 'canary-password');
    const store = await startOwnStore(FOUND);
    const logging = { host: store.url, username: 'canary-user', passwordFile };
    const { ask, service } = await startOwnLogs({ logging });
    const where = `127.0.0.1:${store.port}`;
    const echo = { type: 'x_exception', reason: `user [canary-user] at ${where} http://${where}/ and so on` };
    const answers: CannedStore['answer'][] = [
      FOUND,
      () => ({ status: 401, body: { error: echo } }),
      () => ({ status: 400, body: { error: { ...echo, reason: `at ${where} http://${where}/` } } }),
      () => ({ status: 500, body: `http://${where} ${basic('canary-password')}` }),
      ({ socket }) => void socket.destroy(),
      ({ response }) => void response.end('not JSON'),
    ];
    const bodies: string[] = [];
    for (const answer of answers) {
      store.answer = answer;
      for (const operation of ['query', 'export']) {
        const told = await ask({ operation });
        bodies.push(told.text + JSON.stringify([...told.headers]));
      }
    }
    await store.stop();
    bodies.push((await ask()).text);
    for (const secret of [where, String(store.port), 'canary-password', basic('canary-password').slice(6)])
      for (const body of bodies) expect(body).not.toContain(secret);
    await expect.poll(() => service.logged('request').length).toBeGreaterThan(12);
    const log = logOf(service) + (await service.metrics());
    for (const secret of ['canary-password', basic('canary-password').slice(6)]) expect(log).not.toContain(secret);
  });

  test('of a caller, and other headers of the request, never go to the store', async () => {
    const store = await startOwnStore(FOUND);
    const { ask, token } = await startOwnLogs({ logging: { host: store.url } });
    await ask({}, { headers: { 'x-forwarded-for': '1.2.3.4', cookie: 'a=b', 'x-opaque-id': 'canary' } });
    const headers = store.asked.at(-1)?.headers ?? {};
    expect(Object.keys(headers).sort()).toEqual(['accept', 'connection', 'content-length', 'content-type', 'host']);
    expect(JSON.stringify(store.asked.map(({ body, path }) => [body, path]))).not.toContain(token);
  });
});

test('a path before all others is kept', async () => {
  const store = await startOwnStore(FOUND);
  const { ask } = await startOwnLogs({
    logging: { host: `${store.url}/logs/`, version: '8', indexPrefix: 'own' },
  });
  await ask({ start_time: '1700000000', end_time: '1700000001' });
  expect(store.asked.map(({ path }) => path.split('?')[0])).toEqual(['/logs/own-2023.11.14/_search']);
});
