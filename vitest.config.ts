import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { newCases, SEED } from './test/support/seed.ts';

/** `expect.poll` gives up after a second unless told otherwise. */
const PATIENT = { poll: { timeout: 60_000 } };

/** These change more of their process than a spy does, which is undone after each test. */
const MOCKED = testFilesWith(/\bvi\.(mock|doMock|resetModules|stubGlobal|stubEnv|useFakeTimers)\(/);

/** Test files with generated cases. */
const GENERATED = testFilesWith(/\bfrom '[./]+\/support\/(property|seed)\.ts'/);

function testFilesWith(pattern: RegExp): string[] {
  const files = globSync('test/{unit,integration,contract,model}/**/*.test.ts', { cwd: import.meta.dirname });
  return files.filter((file) => pattern.test(readFileSync(join(import.meta.dirname, file), 'utf8')));
}

/** The long run takes a new seed each time. */
const { TEST_SEED, ...longRun } = newCases();

/**
 * One project a tier. `unit`, `integration`, `mocked`, `contract`, `model`, `long` and `planted` need Node only. `long` runs the generated
 * tests of the others again, with all their cases and a new seed. `planted` runs tests with faults that they must see. `soak` is minutes of
 * faults. `vectors` needs Go to download the public test vectors and to run the scheduler's own code. `netns` needs root, iproute2 and
 * nftables for network namespaces of its own. `cluster` needs Go for the API server that it builds; `chart` needs that and Helm. Each file of
 * these two has an API server of its own. Files of `cluster` wait for most of their time, so two of them run at a time.
 * `logs` runs real log stores: it needs Java, Maven, and Debian's packages `rsyslog` and `rsyslog-elasticsearch`.
 * `openapi` needs Python with `venv`. `clients` needs what test/clients/README.md names; its files all run beside each other (`--maxWorkers` in
 * package.json), since most of them wait for a minute until a token ends. `release` builds and pushes as a release does: it needs root, Go for
 * Helm, and Debian's packages `buildah` and `docker-registry`. `browsers` needs Debian's packages `chromium` and `firefox-esr`, `monitoring`
 * Debian's package `prometheus`. `node` runs pods: it needs root, and the packages that test/node/README.md names.
 * Limits of time are for what hangs: they are many times what a test takes on a machine that is busy with something else.
 */
const tier = (name: string, more: object = {}) => ({
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    setupFiles: 'test/support/after-each-test.ts',
    restoreMocks: true,
    expect: PATIENT,
    ...more,
  },
});

/**
 * A process runs many files of these tiers: no module of ours has state, and a process a file costs half a second of a core, more than most
 * tests. The files with mocks are a tier of their own, `mocked`, with a process each: a module is bound once to what it imports.
 */
const SHARED = { isolate: false, exclude: MOCKED };

const SEEDED = { globalSetup: 'test/support/print-seed.ts', env: { TEST_SEED: `${SEED}` } };

/** These run what the image runs, which is built before they start. */
const PROGRAM = { globalSetup: 'test/support/provide-program.ts' };

export default defineConfig({
  test: {
    projects: [
      tier('unit', { ...SHARED, ...SEEDED, testTimeout: 120_000, hookTimeout: 120_000 }),
      tier('integration', { ...SHARED, ...SEEDED, testTimeout: 120_000, hookTimeout: 120_000 }),
      tier('contract', { ...SHARED, ...SEEDED, testTimeout: 120_000, hookTimeout: 120_000 }),
      tier('mocked', { include: MOCKED, testTimeout: 120_000, hookTimeout: 120_000 }),
      tier('model', { ...SEEDED, testTimeout: 600_000 }),
      tier('long', {
        ...SHARED,
        ...SEEDED,
        include: [...GENERATED, 'test/model/**/*.test.ts'],
        env: { ...longRun, TEST_SEED },
        testTimeout: 600_000 * Number(longRun.LONG),
        hookTimeout: 600_000 * Number(longRun.LONG),
      }),
      tier('planted', { testTimeout: 120_000, hookTimeout: 900_000, fileParallelism: false }),
      tier('vectors', { ...SEEDED, env: { TEST_SEED }, testTimeout: 120_000, hookTimeout: 900_000 }),
      tier('soak', { testTimeout: 180_000, fileParallelism: false }),
      tier('netns', { testTimeout: 180_000, hookTimeout: 120_000, fileParallelism: false }),
      tier('cluster', { ...PROGRAM, testTimeout: 300_000, hookTimeout: 900_000, maxWorkers: 2 }),
      tier('logs', { include: ['test/log-stores/**/*.test.ts'], testTimeout: 120_000, hookTimeout: 600_000 }),
      tier('loki', { testTimeout: 900_000, hookTimeout: 1_800_000 }),
      tier('openapi', { testTimeout: 300_000 }),
      tier('monitoring', { testTimeout: 180_000, hookTimeout: 900_000 }),
      tier('clients', {
        globalSetup: [PROGRAM.globalSetup, 'test/clients/print-table.ts'],
        testTimeout: 300_000,
        hookTimeout: 900_000,
      }),
      tier('browsers', { testTimeout: 180_000, hookTimeout: 180_000 }),
      tier('release', { testTimeout: 120_000, hookTimeout: 600_000, fileParallelism: false }),
      tier('chart', { ...PROGRAM, testTimeout: 300_000, hookTimeout: 900_000, fileParallelism: false }),
      tier('node', {
        testTimeout: 600_000,
        hookTimeout: 300_000,
        fileParallelism: false,
        globalSetup: 'test/node/global-setup.ts',
      }),
    ],
    // More than the cores, as half of a test's time is waiting.
    maxWorkers: availableParallelism() + 2,
    // The authorization server that ours is compared with says on the console that this Node.js is new to it.
    onConsoleLog: (text) => !text.startsWith('oidc-provider '),
    coverage: { include: ['src/**'] },
  },
});
