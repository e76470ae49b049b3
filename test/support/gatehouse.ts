import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import { systemRandom } from '../../src/runtime/random.ts';
import type { Addresses } from '../../src/service/ports.ts';
import { createService, type ServiceParts } from '../../src/service/service.ts';
import { madeUpPage } from './made-up-page.ts';
import { quickBcrypt } from './passwords.ts';

export interface GatehouseOptions {
  /** The configuration, without `kubernetes.kubeconfig`. Unless `server` says otherwise, the ports are free ones on loopback. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** A kubeconfig's text. */
  readonly kubeconfig: string;
  /** The users file's text. */
  readonly users?: string;
  readonly clock?: Clock;
  /** Default: `quickBcrypt`. */
  readonly bcrypt?: ServiceParts['bcrypt'];
  /** Default: no limit. */
  readonly memoryLimit?: ServiceParts['memoryLimit'];
  /** A further output for log lines, and the number of lines that it has dropped. */
  readonly output?: { write(line: string): void; readonly lost: NonNullable<ServiceParts['lostLines']> };
  /** The built page. Default: `madeUpPage`. */
  readonly page?: ServiceParts['page'];
  /** Functions that make further families, after those of the configuration. */
  readonly families?: ServiceParts['families'];
  /** True (the default): resolves once every readiness check passes. False: resolves as soon as the ports are open. */
  readonly untilReady?: boolean;
}

export interface RunningGatehouse extends Addresses {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string;
  /** Every log line so far, parsed. */
  readonly log: readonly Readonly<Record<string, unknown>>[];
  /** Replaces the users file in one step, as in a mounted Secret, so that a reader never sees half of it. */
  writeUsers(text: string): void;
  stop(): Promise<void>;
}

const RELEASE = { version: '0.0.0', gitCommit: 'unknown', gitTreeState: 'unknown', buildDate: '1970-01-01T00:00:00Z' };
const DESCRIPTION = new URL('../../api/platform.openapi.yaml', import.meta.url);
const CRD_DESCRIPTION = new URL('../../api/crd.openapi.yaml', import.meta.url);

/** Starts the whole service in this process, on free loopback ports. `stop` ends it and removes its files. */
export async function startGatehouse(options: GatehouseOptions): Promise<RunningGatehouse> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-test-'));
  const stop = new AbortController();
  const log: Record<string, unknown>[] = [];
  const listening = Promise.withResolvers<Addresses>();
  const ready = Promise.withResolvers<void>();
  const write = (line: string): void => {
    const entry = JSON.parse(line) as Record<string, unknown>;
    log.push(entry);
    options.output?.write(line);
    if (entry['msg'] === 'listening') listening.resolve(entry as unknown as Addresses);
  };
  const config = configIn(folder, options);
  const service = await createService(config, {
    clock: options.clock ?? systemClock,
    random: systemRandom,
    loopLoad: () => 0,
    bcrypt: options.bcrypt ?? quickBcrypt,
    ...(options.memoryLimit ? { memoryLimit: options.memoryLimit } : {}),
    ...(options.output ? { lostLines: options.output.lost } : {}),
    logger: createLogger({ level: 'debug', format: 'json' }, { write }),
    release: RELEASE,
    runtime: { nodeVersion: process.version, platform: 'linux/amd64' },
    environment: {},
    description: readFileSync(DESCRIPTION, 'utf8'),
    crdDescription: readFileSync(CRD_DESCRIPTION, 'utf8'),
    page: 'page' in options ? options.page : madeUpPage,
    ...(options.families ? { families: options.families } : {}),
  });
  const running = service.run(stop.signal, { onReady: () => ready.resolve() });
  const early = running.then(() => Promise.reject(new Error('the service ended before it was ready')));
  const { port, metricsPort } = await Promise.race([listening.promise, early]);
  if (options.untilReady ?? true) await Promise.race([ready.promise, early]);
  early.catch(() => {}); // from here on `stop` waits for the end
  return {
    port,
    metricsPort,
    log,
    writeUsers: (text) => {
      const { users } = filesIn(folder);
      writeFileSync(`${users}.new`, text);
      renameSync(`${users}.new`, users);
    },
    origin: `http://127.0.0.1:${port}`,
    async stop() {
      stop.abort();
      await running;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const filesIn = (folder: string) => ({
  kubeconfig: join(folder, 'kubeconfig'),
  users: join(folder, 'users.yaml'),
  config: join(folder, 'config.yaml'),
});

const configIn = (folder: string, options: GatehouseOptions) =>
  loadConfig(writeConfig(folder, options), (path) => readFileSync(path, 'utf8')).config;

/** Writes the configuration, and the files that it names, into this folder. Returns the path of the configuration. */
export function writeConfig(
  folder: string,
  { config = {}, kubeconfig, users }: Pick<GatehouseOptions, 'config' | 'kubeconfig' | 'users'>,
): string {
  const files = filesIn(folder);
  writeFileSync(files.kubeconfig, kubeconfig);
  if (users !== undefined) writeFileSync(files.users, users);
  const whole = {
    ...config,
    server: { address: '127.0.0.1', port: 0, metricsPort: 0, ...(config['server'] as object | undefined) },
    kubernetes: { ...(config['kubernetes'] as object | undefined), kubeconfig: files.kubeconfig },
    users: { ...(users === undefined ? {} : { file: files.users }), ...(config['users'] as object | undefined) },
  };
  writeFileSync(files.config, JSON.stringify(whole));
  return files.config;
}
