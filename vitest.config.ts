import { defineConfig } from 'vitest/config';

/**
 * One project a tier. `unit`, `integration`, `contract` and `model` need Node only; `vectors` needs Go to download the public
 * test vectors; `netns` needs root, iproute2 and nftables for network namespaces of its own; `cluster` needs Go for the API server that it builds; `chart` needs that and Helm. The two slow tiers share one API server a file, so they run one file at a time.
 */
const tier = (name: string, more: object = {}) => ({
  test: { name, include: [`test/${name}/**/*.test.ts`], restoreMocks: true, ...more },
});

export default defineConfig({
  test: {
    projects: [
      tier('unit'),
      tier('integration', { testTimeout: 30_000, hookTimeout: 30_000 }),
      tier('contract', { testTimeout: 60_000, hookTimeout: 60_000 }),
      tier('model', { testTimeout: 600_000 }),
      tier('vectors', { testTimeout: 60_000, hookTimeout: 300_000 }),
      tier('netns', { testTimeout: 120_000, hookTimeout: 30_000, fileParallelism: false }),
      tier('cluster', { testTimeout: 120_000, hookTimeout: 900_000, fileParallelism: false }),
      tier('chart', { testTimeout: 120_000, hookTimeout: 900_000, fileParallelism: false }),
    ],
    // The authorization server that ours is compared with says on the console that this Node.js is new to it.
    onConsoleLog: (text) => !text.startsWith('oidc-provider '),
    coverage: { include: ['src/**'] },
  },
});
