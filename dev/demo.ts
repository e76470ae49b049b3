import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { systemClock } from '../src/clock.ts';
import { loadConfig } from '../src/config/load.ts';
import { createLogger } from '../src/observability/logger.ts';
import { systemRandom } from '../src/random.ts';
import { toRelease, toRuntime } from '../src/release.ts';
import { createService } from '../src/service.ts';
import { type SimulatedCluster, startSimulatedCluster } from './cluster/cluster.ts';
import { keepChanging, populate } from './cluster/population.ts';
import { DEMO_HELP, type DemoOptions, parseDemoArguments } from './demo-arguments.ts';
import { administratorsRole, demoConfig, printCommands } from './demo-parts.ts';
import { mergeDeep } from './merge.ts';

/** How often something changes in the simulated cluster. */
const CHANGE_EVERY_MS = 3000;

const readFile = (path: string): string => readFileSync(path, 'utf8');
const readPackageFile = (name: string): string => readFile(new URL(`../${name}`, import.meta.url).pathname);

async function demo(options: DemoOptions): Promise<void> {
  const began = performance.now();
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-demo-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());

  const cluster = await startDemoCluster(options);
  const changes = keepChanging(
    cluster.objects,
    { everyMs: CHANGE_EVERY_MS, clock: systemClock, random: systemRandom },
    stop.signal,
  );
  try {
    await runGatehouse({ options, cluster, folder, began, signal: stop.signal });
  } finally {
    stop.abort();
    await changes;
    await cluster.stop();
  }
}

async function startDemoCluster({ nodes, podsPerNode, platform }: DemoOptions): Promise<SimulatedCluster> {
  const cluster = await startSimulatedCluster();
  populate(cluster.objects, { nodes, podsPerNode, seed: 1, platform, now: systemClock.now() });
  for (const [kind, object] of administratorsRole(platform)) cluster.objects.create(kind, object);
  return cluster;
}

interface Run {
  readonly options: DemoOptions;
  readonly cluster: SimulatedCluster;
  readonly folder: string;
  readonly began: number;
  readonly signal: AbortSignal;
}

async function runGatehouse({ options, cluster, folder, began, signal }: Run): Promise<void> {
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, cluster.kubeconfig());
  const own = options.config === undefined ? {} : ((parse(readFile(options.config)) ?? {}) as Record<string, unknown>);
  const file = join(folder, 'gatehouse.yaml');
  writeFileSync(file, JSON.stringify(mergeDeep(demoConfig(options, kubeconfig), own)));
  const { config, warnings } = loadConfig(file, readFile);
  const logger = createLogger(config.log);
  for (const warning of warnings) logger.warn(warning);
  const service = await createService(config, {
    clock: systemClock,
    random: systemRandom,
    logger,
    release: toRelease(readPackageFile('package.json'), undefined),
    runtime: toRuntime(process),
    environment: {},
    description: readPackageFile('api/platform.openapi.yaml'),
  });
  await service.run(signal, {
    onReady: (addresses) => printCommands({ config, cluster, addresses, tookMs: performance.now() - began }),
  });
}

const asked = parseDemoArguments(process.argv.slice(2));
if (asked === 'help') {
  console.log(DEMO_HELP);
} else if ('misuse' in asked) {
  console.error(`demo: ${asked.misuse}; see npm run demo -- --help`);
  process.exitCode = 2;
} else {
  await demo(asked).catch((error: Error) => {
    console.error(`demo: ${error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message}`);
    process.exitCode = error.name === 'ConfigError' ? 2 : 1;
  });
}
