import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ClusterAccess } from '../../../../src/kubernetes/access/cluster-access.ts';
import { CredentialSource } from '../../../../src/kubernetes/access/credentials.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { selfSigned } from '../../../support/self-signed.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-credentials-'));
});
afterEach(() => rm(folder, { recursive: true }));

const at = (name: string): string => join(folder, name);
const write = (name: string, text: string): Promise<void> => writeFile(at(name), text);

function source(change: Partial<ClusterAccess>) {
  const clock = new FakeClock();
  const lines: { level: number; msg: string }[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const access = { inCluster: false, server: 'https://api', namespace: undefined, skipTlsVerify: false, ...change };
  const credentials = new CredentialSource(access, { clock, logger });
  return { clock, lines, credentials, authorization: async () => (await credentials.current()).authorization };
}

describe('the credential', () => {
  test('C-27 is read again when the last look is 10 s old, and not before', async () => {
    await write('token', 'first\n');
    const { clock, authorization } = source({ token: { file: at('token') } });
    await clock.advance(60_000);
    expect(await authorization()).toBe('Bearer first');
    await write('token', 'second');
    await clock.advance(9_999);
    expect(await authorization()).toBe('Bearer first');
    await clock.advance(1);
    expect(await authorization()).toBe('Bearer second');
  });

  test('C-27 is read again at once when it was refused', async () => {
    await write('token', 'first');
    const { credentials, authorization } = source({ token: { file: at('token') } });
    await authorization();
    await write('token', 'second');
    expect((await credentials.renew()).authorization).toBe('Bearer second');
    expect(await authorization()).toBe('Bearer second');
  });

  test('is read once for all who ask for it at the same time', async () => {
    await write('token', 'first');
    const { credentials } = source({ token: { file: at('token') } });
    const [one, other] = await Promise.all([credentials.current(), credentials.renew()]);
    expect(one).toBe(other);
  });

  test.each([
    ['is gone', () => rm(at('token'))],
    ['is empty, as in the middle of a rotation', () => write('token', '\n')],
  ])('C-27 stays the last good one while its file %s, with a warning', async (_what, spoil) => {
    await write('token', 'first');
    const { clock, lines, authorization } = source({ token: { file: at('token') } });
    await authorization();
    await spoil();
    await clock.advance(10_000);
    expect(await authorization()).toBe('Bearer first');
    expect(lines).toMatchObject([
      { level: 40, msg: 'cannot read the cluster credential again; keeping the last good one' },
    ]);
  });

  test('is at hand without waiting until it must be read again, after ten seconds', async () => {
    await write('token', 'first');
    const { clock, credentials } = source({ token: { file: at('token') } });
    expect(credentials.fresh).toBeUndefined();
    const read = await credentials.current();
    await clock.advance(9_999);
    expect(credentials.fresh).toBe(read);
    await clock.advance(1);
    expect(credentials.fresh).toBeUndefined();
  });

  test('that cannot be read at start is an error of one sentence', async () => {
    const { credentials, lines } = source({ token: { file: at('token') } });
    await expect(credentials.load()).rejects.toThrow(/^cannot read the cluster credential: ENOENT/);
    expect(lines).toEqual([]);
    await write('token', ' ');
    await expect(credentials.load()).rejects.toThrow(/^cannot read the cluster credential: .*token is empty$/);
  });

  test('KC-01 is the token beside its file until that was read once', async () => {
    const { credentials, authorization } = source({ token: { file: at('token'), otherwise: 'own' } });
    expect(await authorization()).toBe('Bearer own');
    await write('token', 'from file');
    expect((await credentials.renew()).authorization).toBe('Bearer from file');
    await rm(at('token'));
    expect((await credentials.renew()).authorization).toBe('Bearer from file');
  });

  test('KC-05 is none yet when a plugin fails at the start, and an error when a file is missing beside it', async () => {
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: '/nowhere/a', args: [], env: [] };
    const { credentials, lines } = source({ exec });
    await credentials.load();
    expect(lines).toMatchObject([{ level: 40, msg: 'the exec plugin of the kubeconfig gave no credential' }]);
    const { credentials: broken } = source({ exec, ca: { file: at('missing') } });
    await expect(broken.load()).rejects.toThrow(/^cannot read the cluster credential: ENOENT/);
  });

  test('is a user with a password, or nothing but the certificate', async () => {
    const { authorization } = source({ basic: { username: 'u', password: 'p' } });
    expect(await authorization()).toBe(`Basic ${Buffer.from('u:p').toString('base64')}`);
    expect(await source({}).authorization()).toBeUndefined();
    expect(await source({ token: { data: '' } }).authorization()).toBeUndefined();
  });
});

describe('what the connections are made with', () => {
  test('are the authorities, the certificate with its key and the name, as far as they are configured', async () => {
    const { cert, key } = selfSigned('me');
    const { credentials } = source({
      ca: { data: cert },
      certificate: { data: Buffer.from(cert) },
      key: { data: key },
      serverName: 'api',
    });
    const tls = { ca: cert, cert, key, servername: 'api', rejectUnauthorized: true };
    expect((await credentials.current()).tls).toEqual(tls);
    const bare = source({ skipTlsVerify: true });
    expect((await bare.credentials.current()).tls).toEqual({ rejectUnauthorized: false });
  });

  test('C-31 stays the same object while the files say the same, and is another one when one of them changes', async () => {
    const [first, second] = [selfSigned('first'), selfSigned('second')];
    const authority = selfSigned('authority').cert;
    const writePair = async ({ cert, key }: typeof first) => {
      await write('certificate', cert);
      await write('key', key);
    };
    await write('ca', first.cert);
    await writePair(first);
    await write('token', 'first');
    const files = { ca: { file: at('ca') }, certificate: { file: at('certificate') }, key: { file: at('key') } };
    const { credentials } = source({ ...files, token: { file: at('token') } });
    const { tls } = await credentials.current();
    await write('token', 'second');
    expect((await credentials.renew()).tls).toBe(tls);
    await writePair(second);
    const paired = await credentials.renew();
    expect(paired.tls).toEqual({ ca: first.cert, ...second, rejectUnauthorized: true });
    await write('ca', authority);
    expect((await credentials.renew()).tls).toEqual({ ca: authority, ...second, rejectUnauthorized: true });
  });

  test('KC-03 stays the last good one while a certificate and its key are no pair', async () => {
    const [first, second] = [selfSigned('first'), selfSigned('second')];
    await write('certificate', first.cert);
    await write('key', first.key);
    const { credentials, lines } = source({ certificate: { file: at('certificate') }, key: { file: at('key') } });
    const { tls } = await credentials.current();
    await write('key', second.key);
    expect((await credentials.renew()).tls).toBe(tls);
    expect(lines).toMatchObject([
      { level: 40, err: { message: 'the client key is not the key of the client certificate' } },
    ]);
  });
});
