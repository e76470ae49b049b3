import type { ClientConfig } from './config.ts';
import type { Problem } from './problem.ts';
import type { FileConfig } from './schema.ts';

type FileClient = NonNullable<FileConfig['authentication']['oauthOptions']['clients']>[number];

/** Reads a file that the configuration names, or throws. */
export type ReadFile = (path: string) => string;

/** Shorter secrets can be guessed online. */
const SHORT_SECRET = 16;

export interface Clients {
  readonly clients: readonly ClientConfig[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
}

/** The configured clients with their secrets read, or the built-in one. */
export function completeClients(
  platform: string,
  list: readonly FileClient[] | undefined,
  readFile: ReadFile,
): Clients {
  if (!list) return builtInClient(platform);
  const problems: Problem[] = [];
  const warnings: string[] = [];
  const clients = list.map((client, index) => {
    const secret =
      client.secretFile === undefined ? client.secret : readSecret(client.secretFile, index, readFile, problems);
    const { secretFile: _, secret: __, ...rest } = client;
    const redirectURIs = client.redirectURIs.filter((uri) => uri !== ANY_REDIRECT);
    const grantTypes = client.grantTypes ?? defaultGrants(client.public, redirectURIs);
    warnings.push(...clientWarnings(client, { secret, grantTypes }));
    if (client.name === `${platform}:page`) problems.push(takenName(index));
    return { ...rest, redirectURIs, grantTypes, ...(secret === undefined ? {} : { secret }) } as ClientConfig;
  });
  return { clients, problems, warnings };
}

/** The logs and the audit trail name the calls of our own page so (`page-callers.ts`). */
const takenName = (index: number): Problem => ({
  path: `authentication.oauthOptions.clients[${index}].name`,
  message: 'is the name under which logs show the calls of the page; choose another',
});

/** KubeSphere 3.4's word for any address. It would send codes to anybody who asks, so it counts as no address. */
const ANY_REDIRECT = '*';

/** A client with redirect addresses signs people in by browser, and by the password grant only if it can keep a secret. */
const defaultGrants = (isPublic: boolean, redirectURIs: readonly string[]): readonly string[] => [
  ...(redirectURIs.length > 0 ? ['authorization_code'] : []),
  ...(isPublic && redirectURIs.length > 0 ? [] : ['password']),
  'refresh_token',
];

/** The platform whose clients are those of KubeSphere 3.4, which send a secret that everybody knows. */
const KUBESPHERE = 'kubesphere';

/** The grants of the built-in client besides 3.4's (D-06). */
const BROWSER_GRANTS = ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'];

/**
 * Where a program listens that runs on the person's own machine, at any port (RFC 8252 7.3). They have no path, because kubelogin
 * listens without one.
 */
const LOOPBACK_REDIRECTS = ['http://127.0.0.1', 'http://[::1]', 'http://localhost'];

/**
 * A public client with the name of the platform. The configuration lets no other public client use the password grant. `gatehouse
 * login`, curl and consoles need a client that works from the start, and a secret that is the same in every installation would
 * prove nothing. Nor does a loopback address: any program on the machine may listen there, so a person who is signed in is asked
 * each time (RFC 8252 8.6).
 */
function builtInClient(platform: string): Clients {
  const isKubeSphere = platform === KUBESPHERE;
  const client = {
    name: platform,
    ...(isKubeSphere ? { secret: platform, public: false } : { public: true }),
    grantTypes: [...(isKubeSphere ? [] : BROWSER_GRANTS), 'password', 'refresh_token'],
    ...(isKubeSphere ? { redirectURIs: [] } : { redirectURIs: LOOPBACK_REDIRECTS, grantMethod: 'prompt' as const }),
    postLogoutRedirectURIs: [],
  };
  const proof = isKubeSphere ? `its id and its secret are both "${platform}"` : 'it is public and proves nothing';
  const warning = `the built-in OAuth client "${platform}" is in use: ${proof}; set authentication.oauthOptions.clients to replace it`;
  return { clients: [client], problems: [], warnings: [warning] };
}

function readSecret(file: string, index: number, readFile: ReadFile, problems: Problem[]): string | undefined {
  const path = `authentication.oauthOptions.clients[${index}].secretFile`;
  try {
    const secret = readFile(file).replace(/\r?\n$/, '');
    if (secret === '') problems.push({ path, message: `the file ${file} is empty` });
    return secret;
  } catch (error) {
    problems.push({ path, message: `cannot read the file: ${(error as Error).message}` });
    return undefined;
  }
}

function clientWarnings(
  client: FileClient,
  { secret, grantTypes }: { readonly secret: string | undefined; readonly grantTypes: readonly string[] },
): string[] {
  const warnings: string[] = [];
  if (client.secret !== undefined)
    warnings.push(`the secret of OAuth client "${client.name}" is in the configuration file; prefer secretFile`);
  if (secret !== undefined && (secret === client.name || secret.length < SHORT_SECRET))
    warnings.push(
      `the secret of OAuth client "${client.name}" is easy to guess: use at least ${SHORT_SECRET} random characters`,
    );
  if (client.redirectURIs.includes(ANY_REDIRECT))
    warnings.push(
      `OAuth client "${client.name}" has the redirect address "*", which is never honoured: it has no sign-in by browser without other addresses`,
    );
  if (grantTypes.includes('password'))
    warnings.push(
      `OAuth client "${client.name}" may use the password grant, which RFC 9700 advises against; it sees people’s passwords`,
    );
  return warnings;
}
