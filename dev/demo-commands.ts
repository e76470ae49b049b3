import type { Config } from '../src/config/config.ts';
import { systemRandom } from '../src/runtime/random.ts';
import type { Addresses } from '../src/service/ports.ts';
import type { SimulatedCluster } from './cluster/cluster.ts';
import { DANAS_NAMESPACES, invitePerson, noteChosenPassword, type Person } from './demo-person.ts';
import { type DemoPlace, placeOf, signInAt } from './demo-sign-in.ts';

interface Started {
  readonly config: Config;
  readonly cluster: SimulatedCluster;
  readonly addresses: Addresses;
  readonly tookMs: number;
  /** Where the log lines go; absent when they go to standard output. */
  readonly logFile?: string | undefined;
}

/** Signs in once, like a user, and prints who may sign in and which commands to try. */
export async function printCommands({ config, cluster, addresses, tookMs, logFile }: Started): Promise<void> {
  const place = placeOf(config.server, addresses);
  const user = firstAdministrator(config, cluster);
  noteChosenPassword(user.username, { objects: cluster.objects, platform: config.platform });
  const form = new URLSearchParams({ ...clientOf(config), grant_type: 'password', ...user });
  const signedIn = await signInAt(place, form);
  const person = 'token' in signedIn ? await invited(signedIn.token, { place, config, cluster }) : undefined;
  const lines = [
    '',
    `Gatehouse is ready after ${Math.round(tookMs)} ms on ${place.origin}, metrics on ${place.metricsOrigin}/metrics`,
    ...openPage(config, place, { user, person }),
    `User: ${user.username}   Password: ${user.password}   (made at random for this run)`,
    ...(person ? [lineAbout(person)] : []),
    ...('fault' in signedIn ? [`No token: ${signedIn.fault}`] : []),
    ...(logFile === undefined ? [] : [`Log: ${logFile}   (--verbose prints it here)`]),
    '',
    'Sign in, list the nodes that need attention, follow the list, search the logs. In another terminal:',
    '',
    ...commandsToTry(config, place, form),
    '',
    ...signInByBrowser(config, place),
    'More: docs/accounts.md (users), docs/gateway.md (kubectl), docs/logs.md. Ctrl-C ends the demo.',
    '',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

const invited = (
  token: string,
  { place, config: { platform }, cluster }: Pick<Started, 'config' | 'cluster'> & { readonly place: DemoPlace },
): Promise<Person | undefined> =>
  invitePerson({ place, token, platform, objects: cluster.objects, random: systemRandom });

const lineAbout = ({ username, password }: Person): string =>
  `User: ${username}    Password: ${password}   (may read the namespaces ${DANAS_NAMESPACES.join(' and ')} only)`;

/** The line about the page, where it is served. */
function openPage(
  { page }: Config,
  { origin }: DemoPlace,
  { user, person }: { readonly user: Person; readonly person: Person | undefined },
): string[] {
  const other = person ? `, or as ${person.username} who may see two namespaces only` : '';
  return page.enabled ? [`Open ${origin} in a browser and sign in as ${user.username}${other}`] : [];
}

/**
 * Commands that work when they are pasted one after the other. The first one signs in and keeps the token in a variable, so that no
 * command contains a token.
 */
function commandsToTry(
  { platform, logging }: Pick<Config, 'platform' | 'logging'>,
  { origin, curl }: DemoPlace,
  form: URLSearchParams,
): string[] {
  const api = `${origin}/kapis`;
  const nodes = `${api}/resources.${platform}.io/v1alpha3/nodes`;
  const asUser = `${curl} -H "Authorization: Bearer $TOKEN"`;
  const readsToken = String.raw`sed 's/.*"access_token":"\([^"]*\)".*/\1/'`;
  return [
    `export TOKEN=$(${curl} ${origin}/oauth/token -d '${form}' | ${readsToken})`,
    `${asUser} '${nodes}?status=warning'`,
    `${asUser} -N '${nodes}?watch=true' | cut -c1-100`,
    ...(logging.host === undefined
      ? []
      : [`${asUser} '${api}/tenant.${platform}.io/v1alpha2/logs?log_query=error&size=3'`]),
  ];
}

/** The line about the browser, where the client has a sign-in by browser. A certificate of one's own would need a further option. */
function signInByBrowser(config: Config, { origin }: DemoPlace): string[] {
  const [{ redirectURIs = [] } = {}] = config.authentication.oauthOptions.clients;
  if (redirectURIs.length === 0 || !origin.startsWith('http:')) return [];
  return [`In the browser of this machine: npm start --silent -- login --browser --server ${origin}`, ''];
}

function firstAdministrator({ users }: Config, cluster: SimulatedCluster): Person & Readonly<Record<string, string>> {
  const secrets = cluster.objects.list('secrets');
  const secret = secrets.find((one) => one.metadata.name === users.firstAdministrator.secretName);
  const data = (secret?.['data'] ?? {}) as Readonly<Record<string, string>>;
  const decoded = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString();
  return { username: decoded('username'), password: decoded('password') };
}

/** The parameters by which the client identifies itself; a public client has no secret. */
function clientOf(config: Config): Readonly<Record<string, string>> {
  const [{ name = '', secret } = {}] = config.authentication.oauthOptions.clients;
  return { client_id: name, ...(secret === undefined ? {} : { client_secret: secret }) };
}
