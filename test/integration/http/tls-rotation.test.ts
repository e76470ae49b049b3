import { setTimeout as sleep } from 'node:timers/promises';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { FakeClock } from '../../support/fake-clock.ts';
import { selfSigned } from '../../support/self-signed.ts';
import { REVIEW, startTls, statusOf } from './tls-under-test.ts';

const old = selfSigned('old.example.com');
const next = selfSigned('next.example.com');
const caller = selfSigned('kube-apiserver');
const successor = selfSigned('kube-apiserver-2');

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** The API port over TLS, on a clock that moves only when told to. */
async function start() {
  const clock = new FakeClock();
  const under = await startTls({ ...old, clientCA: caller.cert }, { clock });
  ends.push(async () => {
    const stopped = under.stop();
    await clock.advance(1_000);
    await stopped;
  });
  const { parts, write, heads } = under;
  const open = (more: ConnectionOptions = {}): Promise<TLSSocket> =>
    under.secure({ ca: [old.cert, next.cert], ...more });
  const reloads = async (result: string): Promise<boolean> =>
    (await parts.registry.metrics()).includes(`gatehouse_tls_reloads_total{server="api",result="${result}"} 1`);
  /** Lets time pass, with requests all along, until the change was taken or refused. */
  const untilReloaded = async (result: string, ask: () => Promise<void>): Promise<number> => {
    const began = clock.monotonic();
    for (let turn = 0; turn < 600 && !(await reloads(result)); turn++) {
      await clock.advance(100);
      await sleep(1); // a moment of real time, for the disk
      await ask();
    }
    expect(await reloads(result)).toBe(true);
    return clock.monotonic() - began;
  };
  return { write, open, heads, untilReloaded };
}

const nameOf = (socket: TLSSocket) => socket.getPeerCertificate().subject.CN;

describe('the files of the port under TLS', () => {
  test('C-31 may be replaced while it serves: handshakes use the new ones, open connections stay, no request fails', async () => {
    const { write, open, untilReloaded } = await start();
    const kept = await open();
    const statuses = new Set([await statusOf(kept)]);
    write('tls.crt', next.cert);
    write('tls.key', next.key);
    const took = await untilReloaded('ok', async () => {
      statuses.add(await statusOf(await open()));
      statuses.add(await statusOf(kept));
    });
    expect(took).toBeLessThanOrEqual(60_000);
    expect([...statuses]).toEqual(['HTTP/1.1 200']);
    expect([nameOf(await open()), nameOf(kept)]).toEqual(['next.example.com', 'old.example.com']);
  });

  test('C-31 that cannot be used leave the last good ones in place', async () => {
    const { write, open, untilReloaded } = await start();
    write('tls.crt', next.cert);
    await untilReloaded('invalid', async () => {});
    expect(nameOf(await open())).toBe('old.example.com');
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'C-31 name another authority of callers: the old one vouches for nobody, in a resumed session neither (%s)',
    async (version) => {
      const { write, open, heads, untilReloaded } = await start();
      const only = { minVersion: version, maxVersion: version };
      const first = await open({ ...only, cert: caller.cert, key: caller.key });
      const sessions: Buffer[] = [];
      first.on('session', (session) => sessions.push(session));
      await statusOf(first, REVIEW);
      expect(heads.at(-1)?.certificateNames).not.toEqual([]);
      write('ca.crt', successor.cert);
      await untilReloaded('ok', async () => {});
      const session = sessions.at(-1) ?? first.getSession();
      const resumed = await open({ ...only, cert: caller.cert, key: caller.key, ...(session ? { session } : {}) });
      await statusOf(resumed, REVIEW);
      expect([resumed.isSessionReused(), heads.at(-1)?.certificateNames]).toEqual([false, []]);
      await statusOf(await open({ ...only, cert: successor.cert, key: successor.key }), REVIEW);
      expect(heads.at(-1)?.certificateNames).not.toEqual([]);
    },
  );
});
