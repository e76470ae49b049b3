import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config, Warnings } from '../src/config/config.ts';
import { createLogger, type Logger, type LogOptions } from '../src/observability/logger.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { createLoopLoad } from '../src/runtime/loop-load.ts';
import { systemRandom } from '../src/runtime/random.ts';
import { createService } from '../src/service/service.ts';
import { toRelease, toRuntime } from '../src/service/versions.ts';
import { buildPage } from './build/page.ts';
import { type SimulatedCluster, startSimulatedCluster } from './cluster/cluster.ts';
import { populateEvents } from './cluster/population/events.ts';
import { keepPodsLiving } from './cluster/population/pod-lives.ts';
import { keepChanging, populate } from './cluster/population/population.ts';
import { populateWorkloads } from './cluster/population/workload-objects.ts';
import { seededRandom } from './cluster/seeded-random.ts';
import { DEMO_HELP, type DemoOptions, parseDemoArguments } from './demo-arguments.ts';
import { printCommands } from './demo-commands.ts';
import { loadDemoConfig } from './demo-config.ts';
import { keepWriting, MOST_RECORDS, pastRecords } from './demo-logs.ts';
import { definitionRights, eventRights, installedRights, logRights, VIEWER } from './demo-rights.ts';
import { type SimulatedLogStore, startSimulatedLogStore } from './log-store/log-store.ts';

/** How often something changes in the simulated cluster. */
const CHANGE_EVERY_MS = 3000;

const packageFile = (name: string): URL => new URL(`../${name}`, import.meta.url);
const readPackageFile = (name: string): string => readFileSync(packageFile(name), 'utf8');

async function demo(options: DemoOptions): Promise<void> {
  const began = performance.now();
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-demo-'));
  process.on('exit', (code) => removeUnlessFailed(folder, code));
  const signal = signalOfTheProcess();
  const kubeconfig = join(folder, 'kubeconfig');
  const logStore = options.logs ? await startSimulatedLogStore({ mostRecords: MOST_RECORDS }) : undefined;
  const made = { kubeconfig, logStore: logStore?.url };
  const loaded = loadDemoConfig(options, made, (path) => readFileSync(path, 'utf8'));
  const cluster = await startDemoCluster(options, loaded.config.platform);
  writeFileSync(kubeconfig, cluster.kubeconfig());
  const changes = letLive(cluster, { logStore, podChanges: options.podChanges }, signal);
  const logFile = options.verbose ? undefined : join(folder, 'gatehouse.log');
  await runGatehouse({ ...loaded, cluster, began, signal, logFile });
  await changes;
  await Promise.all([cluster.stop(), logStore?.stop()]);
}

/** Keeps the log of a demo that failed, because it may say why. */
function removeUnlessFailed(folder: string, code: number): void {
  const log = join(folder, 'gatehouse.log');
  if (code !== 0 && existsSync(log)) console.error(`demo: its log is ${log}`);
  else rmSync(folder, { recursive: true, force: true });
}

/** Changes nodes and pods of the cluster, and lets pods write logs, until the signal aborts. */
async function letLive(
  cluster: SimulatedCluster,
  { logStore, podChanges }: Pick<DemoOptions, 'podChanges'> & { readonly logStore: SimulatedLogStore | undefined },
  signal: AbortSignal,
): Promise<void> {
  const { objects } = cluster;
  const often = { everyMs: CHANGE_EVERY_MS, clock: systemClock, random: systemRandom };
  logStore?.add(pastRecords(objects.list('pods'), { now: systemClock.now(), random: seededRandom(1) }));
  await Promise.all([
    keepChanging(objects, often, signal),
    podChanges > 0 &&
      keepPodsLiving(objects, { ...often, random: seededRandom(1), everyMs: 1_000 / podChanges }, signal),
    keepWriting(cluster, logStore, often, signal),
  ]);
}

/** Aborts at a signal, so that nothing is left behind; the second one ends the process at once. */
function signalOfTheProcess(): AbortSignal {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (stop.signal.aborted) process.exit(1);
      stop.abort();
    });
  }
  return stop.signal;
}

async function startDemoCluster({ nodes, podsPerNode }: DemoOptions, platform: string): Promise<SimulatedCluster> {
  // Not the seed of the population below: objects that are created later would get the uids of those that are there.
  const cluster = await startSimulatedCluster({ platform, seed: 2 });
  const now = systemClock.now();
  populate(cluster.objects, { nodes, podsPerNode, seed: 1, platform, now, detailed: true });
  populateWorkloads(cluster.objects, { now });
  populateEvents(cluster.objects, { now });
  const rights = [
    ...[
      ...installedRights(platform, readPackageFile),
      ...logRights(platform),
      ...eventRights(platform),
      ...definitionRights(platform),
    ],
    VIEWER,
  ];
  for (const [kind, object] of rights) cluster.objects.create(kind, object);
  return cluster;
}

interface Run {
  readonly config: Config;
  readonly warnings: Warnings;
  readonly cluster: SimulatedCluster;
  readonly began: number;
  readonly signal: AbortSignal;
  /** Absent when log lines go to standard output. */
  readonly logFile: string | undefined;
}

/** Writes each line before the next one is made, so that the log of a demo that breaks is complete. */
const loggerTo = (file: string | undefined, options: LogOptions): Logger =>
  createLogger(options, file === undefined ? undefined : { write: (text) => appendFileSync(file, text) });

async function runGatehouse({ config, warnings, cluster, began, signal, logFile }: Run): Promise<void> {
  const logger = loggerTo(logFile, config.log);
  for (const warning of warnings) logger.warn(warning);
  const service = await createService(config, {
    clock: systemClock,
    loopLoad: createLoopLoad(systemClock),
    random: systemRandom,
    logger,
    release: toRelease(readPackageFile('package.json'), undefined),
    runtime: toRuntime(process),
    environment: {},
    description: readPackageFile('api/platform.openapi.yaml'),
    crdDescription: readPackageFile('api/crd.openapi.yaml'),
    page: config.page.enabled ? (await buildPage(fileURLToPath(packageFile('.')))).files : undefined,
  });
  await service.run(signal, {
    onReady: (addresses) => printCommands({ config, cluster, addresses, tookMs: performance.now() - began, logFile }),
  });
}

const MISUSES: readonly string[] = ['ConfigError', 'UsersFileError', 'ClusterAccessError'];

/** Runs the demo to its end, and returns the exit code. */
async function main(): Promise<number> {
  const asked = parseDemoArguments(process.argv.slice(2));
  if (asked === 'help') {
    console.log(DEMO_HELP);
    return 0;
  }
  if ('misuse' in asked) {
    console.error(`demo: ${asked.misuse}; see npm run demo -- --help`);
    return 2;
  }
  try {
    await demo(asked);
    return 0;
  } catch (error) {
    const { name, message, cause } = error as Error;
    const more = cause instanceof Error && !message.includes(cause.message) ? `: ${cause.message}` : '';
    console.error(`demo: ${message}${more}`);
    return MISUSES.includes(name) ? 2 : 1;
  }
}

// The reader of our output may stop early (`| head`). That is no failure of the demo.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

const exitCode = await main();
// The process would not end by itself if a failed part has left something open. Both outputs are flushed before.
process.stdout.write('', () => process.stderr.write('', () => process.exit(exitCode)));
