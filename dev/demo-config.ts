import type { Config, Warnings } from '../src/config/config.ts';
import { loadConfig, parseYaml } from '../src/config/load.ts';
import { ConfigError } from '../src/config/problem.ts';
import type { DemoOptions } from './demo-arguments.ts';
import { mergeDeep, type Tree } from './merge.ts';

/** What the demo has made before Gatehouse starts. */
interface Made {
  /** A path. */
  readonly kubeconfig: string;
  /** The address of the log store, where there is one. */
  readonly logStore?: string | undefined;
}

type ReadFile = (path: string) => string;

/**
 * The configuration of the demo, in which the settings of the user's own file replace ours. Throws a `ConfigError` that names that file,
 * or the options if there is no file.
 */
export function loadDemoConfig(
  options: DemoOptions,
  made: Made,
  readFile: ReadFile,
): { config: Config; warnings: Warnings } {
  const own = options.config === undefined ? {} : readOwn(options.config, readFile);
  const text = JSON.stringify(mergeDeep(demoConfig(options, made, schemeOf(own)), own));
  const source = options.config ?? 'the demo’s options';
  return loadConfig(source, (path) => (path === source ? text : readFile(path)));
}

/** The scheme of the issuer: `https` if the user's file configures a certificate. */
const schemeOf = ({ server }: Tree): string =>
  typeof server === 'object' && server !== null && 'tls' in server && server.tls ? 'https' : 'http';

function demoConfig({ port, platform }: DemoOptions, { kubeconfig, logStore }: Made, scheme: string): Tree {
  return {
    platform,
    server: { address: '127.0.0.1', port, metricsPort: port + 1 },
    kubernetes: { kubeconfig },
    authentication: { oauthOptions: { issuer: `${scheme}://127.0.0.1:${port}/oauth` } },
    users: { firstAdministrator: {} },
    accounts: { enabled: true },
    gateway: { enabled: true },
    ...(logStore === undefined ? {} : { logging: { host: logStore } }),
    events: { live: true },
    log: { format: 'pretty' },
  };
}

function readOwn(path: string, readFile: ReadFile): Tree {
  const refuse = (message: string): never => {
    throw new ConfigError(path, [{ path: '', message }]);
  };
  const yaml = parseYaml(textOf(path, readFile, refuse));
  if ('fault' in yaml) return refuse(yaml.fault);
  const content = yaml.content ?? {};
  return typeof content === 'object' && !Array.isArray(content)
    ? (content as Tree)
    : refuse('expected a map of settings');
}

function textOf(path: string, readFile: ReadFile, refuse: (message: string) => never): string {
  try {
    return readFile(path);
  } catch (error) {
    return refuse(`cannot read the file: ${(error as Error).message}`);
  }
}
