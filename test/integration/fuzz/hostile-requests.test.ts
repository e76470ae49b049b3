import { expect, test } from 'vitest';
import { cases, repeatCommand, SEED } from '../../support/seed.ts';
import { startProgram } from '../service/program.ts';
import { eventually, passwordOf, type Service, startCluster } from '../service/stand.ts';
import { Attack } from './attack.ts';

const GIVEN = process.env['FUZZ_REQUESTS'];
const REQUESTS = cases(Number(GIVEN ?? 4_000), Number(GIVEN ?? 500));
/** Fewer cannot tell growth from caches that fill and a heap that is not swept yet. */
const LONG = 100_000;
const MOST_GROWTH_BYTES = 20 * 1024 * 1024;
/** As the chart starts the program. */
const NODE_OPTIONS = '--max-semi-space-size=8';

/** Whoever asks may review tokens, so that the bodies of reviews are read. */
const SETTINGS = { authentication: { tokenReview: { callerAuth: 'none' } }, log: { level: 'debug' } };

const print = (line: string): void => void process.stdout.write(`hostile requests: ${line}\n`);
const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
const median = (list: readonly number[]): number => list.toSorted((a, b) => a - b)[list.length >> 1] ?? 0;

/** From the second fifth, when caches are full, to the last. */
function growthOf(sizes: readonly number[]): number {
  const fifth = Math.floor(sizes.length / 5);
  const [before, after] = [median(sizes.slice(fifth, 2 * fifth)), median(sizes.slice(-fifth))];
  print(`${mib(before)} resident in the second fifth of them, ${mib(after)} in the last`);
  return after - before;
}

/** It is still there, and serves those who have a right to it. */
async function expectServing(service: Service): Promise<void> {
  expect(await service.readiness()).toBe(200);
  const signedIn = await eventually(
    () => service.signInAnswer('ada', passwordOf('ada')),
    ({ status }) => status === 200,
  );
  expect((await service.list(signedIn.body.access_token)).status).toBe(200);
}

test(
  'R-12 hostile requests are answered below 500 or cut; the program lives on, does not grow, and tells no secret',
  async () => {
    const repeat = repeatCommand('test/integration/fuzz');
    print(`${REQUESTS}`);
    const program = await startProgram(await startCluster(), { config: SETTINGS, env: { NODE_OPTIONS } });
    const service = await program.service();
    const attack = new Attack(service, SEED);
    await attack.send(REQUESTS);
    print(JSON.stringify(Object.fromEntries([...attack.statuses].sort())));
    expect(attack.wrong, repeat).toEqual([]);
    await expectServing(service);

    const metrics = await service.metrics();
    program.signal('SIGTERM');
    const { code, stdout, stderr } = await program.ended; // an unhandled rejection ends it with 1 and says so
    expect([code, stderr], repeat).toEqual([0, '']);
    expect(stdout.split('\n').filter((line) => /"level":"(error|fatal)"/.test(line))).toEqual([]);
    const seen = `${stdout}\n${metrics}`;
    expect(seen).toContain('"status":401'); // it did see the requests
    expect(attack.leaksIn(seen).slice(0, 5), repeat).toEqual([]);

    const growth = growthOf(attack.sizes);
    if (REQUESTS >= LONG) expect(growth).toBeLessThanOrEqual(MOST_GROWTH_BYTES);
  },
  120_000 + REQUESTS * 20,
);
