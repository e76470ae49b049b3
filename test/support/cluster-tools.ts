import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { downloaded } from './downloads.ts';
import { withLock } from './file-lock.ts';

/** Absolute paths of the programs that the tiers with a real cluster run. */
export type ClusterTools = { readonly [key in keyof typeof TOOLS]: string };

interface Tool {
  readonly name: string;
  /** Folder under test/cluster/tools with the go.mod that pins it. */
  readonly module: string;
  /** The required module whose version is the tool's version. */
  readonly from: string;
  readonly package: string;
  readonly ldflags?: (version: string, requires: (module: string) => string) => string;
  /** A cold build on two cores, for the progress line. */
  readonly minutes: number;
  /** Whether it is built only on request, because only the bench or a tier that is run by hand needs it. */
  readonly isOnDemand?: true;
  /** The source of a program of ours, in the module's folder. It is built again when a source in that folder changes. */
  readonly source?: string;
}

const MODULES = join(import.meta.dirname, '..', 'cluster', 'tools');

/**
 * The linker flags that set the version. Without them the server calls itself v0.0.0-master, and clients behave as for that version.
 */
const kubernetesVersion = (version: string): string => {
  const [major, minor] = version.slice(1).split('.');
  const stamp = { gitVersion: version, gitMajor: major, gitMinor: minor };
  return Object.entries(stamp)
    .map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
    .join(' ');
};

/**
 * The linker flags of Helm 3's own builds. Without them it renders and checks charts for Kubernetes 1.20. The cluster it renders for is
 * that of its client-go, as in Helm 4, which reads it from the binary.
 */
const helm3Version = (version: string, requires: (module: string) => string): string => {
  const [, minor] = requires('k8s.io/client-go').split('.');
  const cluster = ['pkg/chartutil', 'pkg/lint/rules'].flatMap((name) => [
    `-X helm.sh/helm/v3/${name}.k8sVersionMajor=1`,
    `-X helm.sh/helm/v3/${name}.k8sVersionMinor=${minor}`,
  ]);
  return [`-X helm.sh/helm/v3/internal/version.version=${version}`, ...cluster].join(' ');
};

const kubernetes = (name: string, minutes: number): Tool => ({
  name,
  module: 'kubernetes',
  from: 'k8s.io/kubernetes',
  package: `k8s.io/kubernetes/cmd/${name}`,
  ldflags: kubernetesVersion,
  minutes,
});

const TOOLS = {
  etcd: {
    name: 'etcd',
    module: 'etcd',
    from: 'go.etcd.io/etcd/server/v3',
    package: 'go.etcd.io/etcd/server/v3',
    minutes: 1,
  },
  kubeApiserver: kubernetes('kube-apiserver', 5),
  kubectl: kubernetes('kubectl', 1),
  kubelet: kubernetes('kubelet', 2),
  kubeControllerManager: kubernetes('kube-controller-manager', 2),
  kubeScheduler: kubernetes('kube-scheduler', 1),
  kubeProxy: kubernetes('kube-proxy', 1),
  liveList: {
    name: 'live-list',
    module: 'live-list',
    from: 'k8s.io/client-go',
    package: '.',
    source: 'main.go',
    minutes: 2,
  },
  // In the module of the API server, so that their common packages are compiled only once.
  requestInfo: {
    name: 'request-info',
    module: 'kubernetes',
    from: 'k8s.io/kubernetes',
    package: './request-info',
    source: 'request-info/main.go',
    minutes: 1,
  },
  texts: {
    name: 'texts',
    module: 'kubernetes',
    from: 'k8s.io/kubernetes',
    package: './texts',
    source: 'texts/main.go',
    minutes: 1,
  },
  negotiation: {
    name: 'negotiation',
    module: 'kubernetes',
    from: 'k8s.io/kubernetes',
    package: './negotiation',
    source: 'negotiation/main.go',
    minutes: 1,
  },
  networkPolicyController: {
    name: 'network-policy-controller',
    module: 'kubernetes',
    from: 'github.com/cloudnativelabs/kube-router/v2',
    package: './network-policy-controller',
    source: 'network-policy-controller/main.go',
    minutes: 1,
  },
  goDurations: {
    name: 'go-durations',
    module: 'go-durations',
    from: 'go', // its library alone
    package: '.',
    source: 'main.go',
    minutes: 1,
  },
  podUsage: {
    name: 'pod-usage',
    module: 'pod-usage',
    from: 'k8s.io/component-helpers',
    package: '.',
    source: 'main.go',
    minutes: 1,
  },
  podUsageOldest: {
    name: 'pod-usage-oldest',
    module: 'pod-usage-oldest',
    from: 'k8s.io/kubernetes',
    package: '.',
    source: 'main.go',
    minutes: 1,
  },
  kubeconfig: {
    name: 'kubeconfig',
    module: 'kubeconfig',
    from: 'k8s.io/client-go',
    package: '.',
    source: 'main.go',
    minutes: 2,
  },
  proxyVariables: {
    name: 'proxy-variables',
    module: 'proxy-variables',
    from: 'golang.org/x/net',
    package: '.',
    source: 'main.go',
    minutes: 1,
  },
  // It uses the Kubernetes packages that are compiled for the others.
  goClients: {
    name: 'go-clients',
    module: '../../clients/go',
    from: 'k8s.io/client-go',
    package: '.',
    source: 'main.go',
    minutes: 1,
  },
  // In the module of the other Go clients.
  oidcLogin: {
    name: 'oidc-login',
    module: '../../clients/go',
    from: 'github.com/coreos/go-oidc/v3',
    package: './oidc-login',
    source: 'oidc-login/main.go',
    minutes: 1,
  },
  actionlint: {
    name: 'actionlint',
    module: 'actionlint',
    from: 'github.com/rhysd/actionlint',
    package: 'github.com/rhysd/actionlint/cmd/actionlint',
    minutes: 1,
  },
  caddy: {
    name: 'caddy',
    module: 'caddy',
    from: 'github.com/caddyserver/caddy/v2',
    package: '.',
    source: 'main.go',
    minutes: 2,
  },
  kubeRbacProxy: {
    name: 'kube-rbac-proxy',
    module: 'kube-rbac-proxy',
    from: 'github.com/brancz/kube-rbac-proxy',
    package: 'github.com/brancz/kube-rbac-proxy/cmd/kube-rbac-proxy',
    minutes: 2,
    isOnDemand: true,
  },
  loki: {
    name: 'loki',
    module: 'loki',
    from: 'github.com/grafana/loki/v3',
    package: 'github.com/grafana/loki/v3/cmd/loki',
    minutes: 12,
    isOnDemand: true,
  },
  helm: { name: 'helm', module: 'helm', from: 'helm.sh/helm/v4', package: 'helm.sh/helm/v4/cmd/helm', minutes: 3 },
  // In the module of Helm 4, so that their common packages are compiled only once.
  helm3: {
    name: 'helm3',
    module: 'helm',
    from: 'helm.sh/helm/v3',
    package: 'helm.sh/helm/v3/cmd/helm',
    ldflags: helm3Version,
    minutes: 1,
  },
  // In the module of Helm 4 too.
  controllerCache: {
    name: 'controller-cache',
    module: 'helm',
    from: 'sigs.k8s.io/controller-runtime',
    package: './controller-cache',
    source: 'controller-cache/main.go',
    minutes: 1,
  },
} as const satisfies Record<string, Tool>;

/**
 * Returns the paths of all tools that the tests run. Builds missing tools one after the other, because one Go build keeps all cores
 * busy.
 */
export async function clusterTools(): Promise<ClusterTools> {
  const paths: Record<string, string> = {};
  for (const [key, { isOnDemand }] of Object.entries<Tool>(TOOLS))
    if (!isOnDemand) paths[key] = await clusterTool(key as keyof typeof TOOLS);
  return paths as ClusterTools;
}

/**
 * The absolute path of one tool. It is in `KUBEBUILDER_ASSETS` if that is set, else in the cache folder, where it is built if it is
 * missing. Two processes that need it at the same time build it once.
 */
export async function clusterTool(key: keyof typeof TOOLS): Promise<string> {
  const tool: Tool = TOOLS[key];
  const given = fromAssets(tool);
  if (given) return given;
  const version = pinnedVersion(tool);
  const build = `${tool.name}-${version}${sourceMark(tool)}-${process.platform}-${process.arch}`;
  const binary = join(cacheFolder(), build, tool.name);
  if (existsSync(binary)) return binary;
  await mkdir(dirname(binary), { recursive: true });
  // Not in the cache folder, because a lock left by a killed job must not be saved and restored with the cache.
  await withLock(join(tmpdir(), `gatehouse-${build}.lock`), async () => {
    if (!existsSync(binary)) await buildTool(tool, version, binary);
  });
  return binary;
}

/** The programs that `KUBEBUILDER_ASSETS` has by the convention of envtest. It need not have the others. */
const ENVTEST: readonly Tool[] = [TOOLS.etcd, TOOLS.kubeApiserver, TOOLS.kubectl];

function fromAssets(tool: Tool): string | undefined {
  const assets = process.env['KUBEBUILDER_ASSETS'];
  if (!assets) return undefined;
  const path = join(assets, tool.name);
  if (existsSync(path)) return path;
  if (!ENVTEST.includes(tool)) return undefined;
  throw new Error(`KUBEBUILDER_ASSETS is set, but ${path} does not exist`);
}

function sourceMark({ module, source }: Tool): string {
  if (!source) return '';
  const folder = dirname(join(MODULES, module, source));
  const hash = createHash('sha256');
  for (const file of globSync('*.go', { cwd: folder }).sort()) hash.update(readFileSync(join(folder, file)));
  return `-${hash.digest('hex').slice(0, 8)}`;
}

/** The folder in which the tools of all tiers are kept. */
export const cacheFolder = (): string =>
  join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'gatehouse', 'tools');

/** Reads the version from go.mod. No other file has it, so an update changes one line, and the cache key follows. */
const pinnedVersion = (tool: Tool): string => requiredVersion(tool, tool.from);

function requiredVersion(tool: Tool, module: string): string {
  const file = join(MODULES, tool.module, 'go.mod');
  const escaped = module.replaceAll('.', '\\.');
  const found = new RegExp(`^\\s*(?:require )?${escaped} (v?\\d\\S*)`, 'm').exec(readFileSync(file, 'utf8'));
  if (!found?.[1]) throw new Error(`${file} does not require ${module}`);
  return found[1];
}

async function buildTool(tool: Tool, version: string, binary: string): Promise<void> {
  await promisify(execFile)('go', ['version']).catch((cause) => {
    const advice = 'install Go 1.26 or newer, or point KUBEBUILDER_ASSETS at a folder with the finished programs';
    throw new Error(`cannot build ${tool.name}: there is no usable "go" on PATH; ${advice}`, { cause });
  });
  const started = performance.now();
  const seconds = (): number => Math.round((performance.now() - started) / 1000);
  note(`building ${tool.name} ${version}, about ${minutes(tool.minutes)} the first time`);
  const heartbeat = setInterval(() => note(`still building ${tool.name}, ${seconds()} s`), 30_000);
  const unfinished = `${binary}.${process.pid}.part`; // renamed when complete, so that nobody runs half a program
  try {
    await downloaded(`what ${tool.name} is made of`, () => fetchModules(tool));
    await goBuild(tool, version, unfinished);
    await rename(unfinished, binary);
  } finally {
    clearInterval(heartbeat);
    await rm(unfinished, { force: true });
  }
  note(`built ${tool.name} ${version} in ${seconds()} s`);
}

const minutes = (count: number): string => (count === 1 ? 'a minute' : `${count} minutes`);
const note = (line: string): void => void process.stderr.write(`cluster tools: ${line}\n`);

/** Lets the linker drop what only golang.org/x/net/trace reaches by reflection, as the official builds do. */
const TAGS = '-tags=grpcnotrace';

/** Where Go works on a tool. readonly: modules that go.sum does not name are refused, so a build is the same everywhere. */
const surroundings = ({ module }: Tool) => ({
  cwd: join(MODULES, module),
  env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly' },
});

/** Brings the modules of every package that the tool is made of into Go's cache: to list the packages, Go has to have them. */
async function fetchModules(tool: Tool): Promise<void> {
  await promisify(execFile)('go', ['list', '-deps', TAGS, tool.package], { ...surroundings(tool), maxBuffer: 2 ** 26 });
}

function goBuild(tool: Tool, version: string, output: string): Promise<void> {
  // -s -w and -trimpath: a third smaller, and the same bytes from any folder.
  const flags = ['-trimpath', '-buildvcs=false', TAGS];
  const ldflags = `-ldflags=-s -w ${tool.ldflags?.(version, (module) => requiredVersion(tool, module)) ?? ''}`.trim();
  const child = spawn('go', ['build', ...flags, ldflags, '-o', output, tool.package], {
    ...surroundings(tool),
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`go build ${tool.package} ended with code ${code}; its messages are above`));
    });
  });
}
