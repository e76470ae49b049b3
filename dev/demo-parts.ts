import type { Config } from '../src/config/config.ts';
import { parseYaml } from '../src/config/load.ts';
import type { Addresses } from '../src/service/ports.ts';
import type { SimulatedCluster } from './cluster/cluster.ts';
import type { NewObject } from './cluster/kube-object.ts';
import { type DemoPlace, placeOf, signInAt } from './demo-sign-in.ts';

/** Of `deploy/`, by plural of their kind. */
const RIGHTS = [
  ['clusterroles', 'accounts/administrators-clusterrole'],
  ['clusterrolebindings', 'administrators-clusterrolebinding'],
  ['clusterroles', 'accounts/platform-admin-clusterrole'],
  ['clusterroles', 'accounts/platform-regular-clusterrole'],
  ['clusterroles', 'accounts/users-manager-clusterrole'],
  ['clusterroles', 'logging/log-reader-clusterrole'],
] as const;

/** The rights that an installation with accounts and log queries gives to people, for this platform, by plural of their kind. */
export function installedRights(
  platform: string,
  readPackageFile: (name: string) => string,
): readonly (readonly [string, NewObject])[] {
  return RIGHTS.map(([plural, name]) => {
    const file = `deploy/${name}.yaml`;
    const yaml = parseYaml(readPackageFile(file).replace(/\bgatehouse(?=\.io\b|-admins$)/gm, platform));
    if ('fault' in yaml) throw new Error(`${file}: ${yaml.fault}`);
    return [plural, yaml.content as NewObject];
  });
}

const RBAC = 'rbac.authorization.k8s.io';
const POD_LOGS = 'pod-logs';

/** Who may read which pods' logs: administrators all of them, everybody else who is signed in those of the shop. */
export function logRights(platform: string): readonly (readonly [string, NewObject])[] {
  const rules = [{ apiGroups: [''], resources: ['pods/log'], verbs: ['get'] }];
  const roleRef = (name: string) => ({ apiGroup: RBAC, kind: 'ClusterRole', name });
  const group = (name: string) => [{ apiGroup: RBAC, kind: 'Group', name }];
  const [admins, everybody] = [group(`${platform}-admins`), group('system:authenticated')];
  const readers = { metadata: { name: 'log-readers' }, roleRef: roleRef('gatehouse-system:gatehouse:log-reader') };
  const inShop = { metadata: { name: POD_LOGS, namespace: 'shop' }, roleRef: roleRef(POD_LOGS) };
  return [
    ['clusterroles', { metadata: { name: POD_LOGS }, rules }],
    ['clusterrolebindings', { metadata: { name: POD_LOGS }, roleRef: roleRef(POD_LOGS), subjects: admins }],
    ['clusterrolebindings', { ...readers, subjects: everybody }],
    ['rolebindings', { ...inShop, subjects: everybody }],
  ];
}

interface Started {
  readonly config: Config;
  readonly cluster: SimulatedCluster;
  readonly addresses: Addresses;
  readonly tookMs: number;
}

/**
 * Signs in as a user would, and prints the users and some commands to try. Each command is one line that works when
 * pasted.
 */
export async function printCommands({ config, cluster, addresses, tookMs }: Started): Promise<void> {
  const place = placeOf(config.server, addresses);
  const { origin, metricsOrigin, curl } = place;
  const { name, password } = firstAdministrator(config, cluster);
  const form = new URLSearchParams({ ...clientOf(config), grant_type: 'password', username: name, password });
  const signedIn = await signInAt(place, form);
  const token = 'token' in signedIn ? signedIn.token : '$TOKEN';
  const nodes = `${origin}/kapis/resources.${config.platform}.io/v1alpha3/nodes`;
  const bearer = `-H "Authorization: Bearer ${token}"`;
  const lines = [
    '',
    `Gatehouse is ready after ${Math.round(tookMs)} ms on ${origin}, metrics on ${metricsOrigin}/metrics`,
    `User: ${name}   Password: ${password}   (made at random for this run)`,
    ...('fault' in signedIn ? [`No token: ${signedIn.fault}`] : []),
    '',
    'Sign in, list the nodes, list the nodes that need attention:',
    '',
    `${curl} -d "${form}" ${origin}/oauth/token`,
    '',
    `${curl} ${bearer} ${nodes}`,
    '',
    `${curl} ${bearer} "${nodes}?status=warning&sortBy=name&ascending=true&limit=5"`,
    '',
    ...commandsOnLogs(config, place, bearer),
    ...commandsOnUsers(config, place, bearer),
    'Ctrl-C ends it.',
    '',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

function commandsOnLogs(config: Config, { origin, curl }: DemoPlace, bearer: string): string[] {
  if (config.logging.host === undefined) return [];
  const logs = `${origin}/kapis/tenant.${config.platform}.io/v1alpha2/logs`;
  return [
    'Find what went wrong in the pods’ logs, and save what one workload wrote (docs/logs.md has more):',
    '',
    `${curl} ${bearer} "${logs}?log_query=error&size=3"`,
    '',
    `${curl} ${bearer} "${logs}?operation=export&namespaces=shop&workloads=payments" > payments.log`,
    '',
  ];
}

/** Somebody to try things with, in a cluster that ends with the demo. */
const ALICE = { username: 'alice', password: 'First-of-alice-1' };

function commandsOnUsers(config: Config, { origin, curl }: DemoPlace, bearer: string): string[] {
  if (!config.accounts.enabled) return [];
  const group = `iam.${config.platform}.io`;
  const users = `${origin}/kapis/${group}/v1alpha2/users`;
  const { username: name, password } = ALICE;
  const annotations = { [`${group}/globalrole`]: 'platform-regular' };
  const user = { metadata: { name, annotations }, spec: { email: `${name}@example.com`, password } };
  const form = new URLSearchParams({ ...clientOf(config), grant_type: 'password', ...ALICE });
  const sends = `${curl} ${bearer} -H "Content-Type: application/json"`;
  const disables = `sed 's/"state":"Active"/"state":"Disabled"/'`;
  return [
    'Make a user, sign in as that user, disable the user (docs/accounts.md has more):',
    '',
    `${sends} -d '${JSON.stringify(user)}' ${users}`,
    '',
    `${curl} -d "${form}" ${origin}/oauth/token`,
    '',
    `${curl} ${bearer} ${users}/${name} | ${disables} | ${sends} -X PUT -d @- ${users}/${name}`,
    '',
  ];
}

function firstAdministrator({ users }: Config, cluster: SimulatedCluster): { name: string; password: string } {
  const secrets = cluster.objects.list('secrets');
  const secret = secrets.find((one) => one.metadata.name === users.firstAdministrator.secretName);
  const data = (secret?.['data'] ?? {}) as Readonly<Record<string, string>>;
  const decoded = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString();
  return { name: decoded('username'), password: decoded('password') };
}

/** As the client sends them; a public one has no secret. */
function clientOf(config: Config): Readonly<Record<string, string>> {
  const [{ name = '', secret } = {}] = config.authentication.oauthOptions.clients;
  return { client_id: name, ...(secret === undefined ? {} : { client_secret: secret }) };
}
