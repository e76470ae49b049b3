import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TlsOptions } from 'node:tls';
import { Counter, Gauge, Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readServingCertificate } from '../../../../src/http/connection/serving-certificate.ts';
import { createLogger } from '../../../../src/observability/logger.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { selfSigned } from '../../../support/self-signed.ts';
import { waitFor } from '../../../support/waiting.ts';

const first = selfSigned('first.example.com');
const second = selfSigned('second.example.com');
const authority = selfSigned('authority');

let folder: string;
let stop: () => Promise<void>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-certificate-'));
});
afterEach(async () => {
  await stop();
  rmSync(folder, { recursive: true });
});

const write = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text, { mode: 0o600 });
  return join(folder, name);
};

const POLL_MS = 2_000;
const SETTLE_MS = 1_000;

/** Remembers for how long it was slept. */
class SleepLog extends FakeClock {
  readonly slept: number[] = [];
  override sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    this.slept.push(ms);
    return new Promise((resolve) => {
      const cancel = this.after(ms, resolve);
      signal?.addEventListener('abort', () => {
        cancel();
        resolve();
      });
    });
  };
}

/** Files that are followed, and what the server is told. */
async function follow(clientCA?: string, { cert, key } = first) {
  const files = {
    certFile: write('tls.crt', cert),
    keyFile: write('tls.key', key),
    ...(clientCA === undefined ? {} : { clientCAFile: write('ca.crt', clientCA) }),
  };
  const clock = new SleepLog();
  const registry = new Registry();
  const reloads = new Counter({ name: 'n', help: 'h', labelNames: ['server', 'result'], registers: [registry] });
  const expirations = new Gauge({ name: 'g', help: 'h', labelNames: ['server'], registers: [registry] });
  const log: Record<string, unknown>[] = [];
  const logger = createLogger({ level: 'info', format: 'json' }, { write: (line) => void log.push(JSON.parse(line)) });
  const taken: TlsOptions[] = [];
  const certificate = readServingCertificate(files);
  const ending = new AbortController();
  const server = { setSecureContext: (options: TlsOptions) => void taken.push(options) };
  const told = { clock, logger, reloads, expirations, name: 'api' };
  const running = certificate.follow(server, told, ending.signal);
  stop = async () => {
    ending.abort();
    await running;
  };
  const count = async (result: string): Promise<number> =>
    (await reloads.get()).values.find(({ labels }) => labels.result === result)?.value ?? 0;
  const expiration = async (): Promise<number | undefined> => (await expirations.get()).values[0]?.value;
  /** Lets time pass, and the thread pool read, until it is so. */
  const until = async (isSo: () => boolean): Promise<void> => {
    const turn = async (): Promise<void> => {
      await clock.advance(100);
      await sleep(1);
    };
    await waitFor(isSo, Boolean, { turn, looks: 5_000, saw: () => log });
  };
  /** So many looks at the files began. */
  const looks = (count: number) => until(() => clock.slept.filter((ms) => ms === POLL_MS).length >= count);
  await looks(1);
  const changed = (): boolean => log.length > 0;
  return { certificate, taken, log, until, looks, clock, count, changed, expiration };
}

const LAST_GOOD = 'the changed TLS files are not taken: the last good ones stay';

const DAY_MS = 86_400_000;
const NOW = new FakeClock().now();
const expiring = (inDays: number) => selfSigned('short.example.com', { notAfter: new Date(NOW + inDays * DAY_MS) });

describe('the expiry of a serving certificate', () => {
  test('is shown by server, of the files in use', async () => {
    const { expiration, until, changed } = await follow();
    expect(await expiration()).toBe(Date.UTC(2049, 0) / 1_000);
    const next = expiring(30);
    write('tls.crt', next.cert);
    write('tls.key', next.key);
    await until(changed);
    expect(await expiration()).toBe((NOW + 30 * DAY_MS) / 1_000);
  });

  test('is that of the certificate in the file which expires first', async () => {
    const leaf = selfSigned('leaf.example.com');
    const { expiration } = await follow(undefined, { cert: leaf.cert + expiring(20).cert, key: leaf.key });
    expect(await expiration()).toBe((NOW + 20 * DAY_MS) / 1_000);
  });

  test('is no news more than 14 days before', async () => {
    const { log } = await follow(undefined, expiring(15));
    expect(log).toEqual([]);
  });

  test.each([
    ['soon', 13, 'the serving certificate expires soon'],
    ['in the past', -1, 'the serving certificate has expired'],
  ])('is warned of at the start when it is %s', async (_when, days, msg) => {
    const { log } = await follow(undefined, expiring(days));
    expect(log).toEqual([
      expect.objectContaining({ level: 'warn', expiresAt: new Date(NOW + days * DAY_MS).toISOString(), msg }),
    ]);
  });

  test('is warned of again when the changed files expire soon, too', async () => {
    const { log, until, changed } = await follow();
    const next = expiring(1);
    write('tls.crt', next.cert);
    write('tls.key', next.key);
    await until(changed);
    expect(log.map((line) => line['msg'])).toEqual([
      'the changed TLS files are in use',
      'the serving certificate expires soon',
    ]);
  });
});

describe('the files of a serving certificate', () => {
  test('are those of the start, and not told again while nothing changes', async () => {
    const { certificate, taken, looks, count } = await follow();
    await looks(5);
    expect(certificate.options).toEqual({ cert: first.cert, key: first.key, minVersion: 'TLSv1.2' });
    expect([taken, await count('ok'), await count('invalid')]).toEqual([[], 0, 0]);
  });

  test('C-31 are taken when they change, and counted', async () => {
    const { taken, until, changed, log, count } = await follow();
    write('tls.crt', second.cert);
    write('tls.key', second.key);
    await until(changed);
    expect(taken).toEqual([{ cert: second.cert, key: second.key, minVersion: 'TLSv1.2' }]);
    expect([await count('ok'), await count('invalid')]).toEqual([1, 0]);
    expect(log[0]).toMatchObject({ validTo: 'Jan  1 00:00:00 2049 GMT', msg: 'the changed TLS files are in use' });
  });

  test('C-31 bring another authority of client certificates', async () => {
    const { taken, until, changed } = await follow(first.cert);
    write('ca.crt', authority.cert);
    await until(changed);
    expect(taken).toEqual([
      expect.objectContaining({ ca: authority.cert, requestCert: true, rejectUnauthorized: false }),
    ]);
  });

  test('C-31 are given a second to become a pair again, since they are not replaced in one step', async () => {
    const { taken, until, changed, clock, count } = await follow();
    write('tls.crt', second.cert);
    await until(() => clock.slept.includes(SETTLE_MS));
    write('tls.key', second.key);
    await until(changed);
    expect([taken.length, await count('ok'), await count('invalid')]).toEqual([1, 1, 0]);
  });

  test.each([
    ['a certificate of another key', 'tls.crt', second.cert, 'the key is not that of the certificate'],
    ['no certificate', 'tls.crt', 'nothing', 'a file does not contain a usable certificate or key in PEM'],
    ['no key', 'tls.key', '', 'a file does not contain a usable certificate or key in PEM'],
    [
      'no authority, which would mean everybody’s',
      'ca.crt',
      '',
      'a file does not contain a usable certificate or key in PEM',
    ],
  ])('C-31 keep the last good ones in place of %s, and say so', async (_what, name, text, fault) => {
    const { taken, until, changed, looks, clock, log, count } = await follow(authority.cert);
    write(name, text);
    await until(changed);
    await looks(clock.slept.length + 3);
    expect([taken, await count('ok'), await count('invalid')]).toEqual([[], 0, 1]);
    expect(log).toEqual([expect.objectContaining({ fault, msg: LAST_GOOD })]);
    expect(JSON.stringify(log)).not.toContain('PRIVATE');
  });

  test('C-31 keep the last good ones when one is gone, and take it when it is back', async () => {
    const { taken, until, changed, log } = await follow();
    rmSync(join(folder, 'tls.key'));
    await until(changed);
    expect(log[0]).toMatchObject({ fault: 'cannot read a file (ENOENT)', msg: LAST_GOOD });
    write('tls.key', second.key);
    write('tls.crt', second.cert);
    await until(() => taken.length > 0);
    expect(log.map((line) => line['msg'])).toEqual([LAST_GOOD, 'the changed TLS files are in use']);
  });
});
