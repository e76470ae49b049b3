import { X509Certificate } from 'node:crypto';
import type { ReadFile } from './clients.ts';
import type { Problem } from './problem.ts';
import type { FileConfig } from './schema.ts';

/** The settings of a store beside the cluster: its section, its name in warnings, its address, and what is sent to it. */
interface StoreSettings {
  readonly section: 'logging' | 'events' | 'auditing' | 'monitoring';
  readonly store: string;
  readonly address: { readonly setting: string; readonly example: string; readonly value: string | undefined };
  /** What somebody on the way to the store could do. */
  readonly risk: string;
  readonly username?: string | undefined;
  readonly passwordFile?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly caFile?: string | undefined;
  readonly insecureSkipTLSVerify: boolean;
}

/** The stores that the configuration may name. */
export const storesOf = (file: Pick<FileConfig, 'logging' | 'events' | 'auditing' | 'monitoring'>): StoreSettings[] => [
  ...(['logging', 'events', 'auditing'] as const).map((section) => ({
    ...file[section],
    section,
    store: 'the store',
    address: { setting: 'host', example: 'https://opensearch.logging:9200', value: file[section].host },
    risk: 'read and change what is in it',
  })),
  {
    ...file.monitoring,
    section: 'monitoring',
    store: 'Prometheus',
    address: {
      setting: 'prometheus',
      example: 'http://prometheus.monitoring:9090',
      value: file.monitoring.prometheus,
    },
    risk: 'read and change metrics',
  },
];

/** The problems in the settings of a store. They quote nothing of the files. */
export function storeProblems({ section, address, ...store }: StoreSettings, readFile: ReadFile): Problem[] {
  const { username, passwordFile, tokenFile, caFile } = store;
  const problem = (name: string, message: string): Problem => ({ path: `${section}.${name}`, message });
  const problems: Problem[] = [];
  if ((username === undefined) !== (passwordFile === undefined)) {
    const [absent, present] = username === undefined ? ['username', 'passwordFile'] : ['passwordFile', 'username'];
    problems.push(problem(absent, `is needed when ${section}.${present} is set`));
  }
  if (tokenFile !== undefined && (username ?? passwordFile) !== undefined)
    problems.push(problem('tokenFile', `stands in place of a user: leave it or ${section}.username out`));
  if (address.value !== undefined && !URL.canParse(address.value))
    problems.push(problem(address.setting, `expected an address such as "${address.example}"`));
  // RFC 7617 2: the first colon ends the name, and the rest would be read as the password.
  if (username?.includes(':')) problems.push(problem('username', 'must not have a ":"'));
  for (const [name, value] of Object.entries({ username, passwordFile, tokenFile, caFile }))
    if (address.value === undefined && value !== undefined)
      problems.push(problem(name, `needs ${section}.${address.setting}`));
  const files = { passwordFile: isSecret, tokenFile: isToken, caFile: isCertificate };
  for (const [name, check] of Object.entries(files)) {
    const path = store[name as keyof typeof files];
    const fault = path === undefined ? undefined : faultOf(path, readFile, check);
    if (fault !== undefined) problems.push(problem(name, fault));
  }
  return problems;
}

/** What the operator should know at start. */
export function storeWarnings({ section, store, address, risk, ...settings }: StoreSettings): string[] {
  const { username, tokenFile, insecureSkipTLSVerify } = settings;
  const warnings: string[] = [];
  if (address.value === undefined) return warnings;
  if (insecureSkipTLSVerify)
    warnings.push(`${section}.insecureSkipTLSVerify is on: anybody on the way to ${store} can ${risk}`);
  const secret = (username && 'password') ?? (tokenFile && 'token');
  if (address.value.startsWith('http:') && secret !== undefined)
    warnings.push(
      `${section}.${address.setting} is plain http: the ${secret} of ${store} crosses the network in clear`,
    );
  return warnings;
}

type Check = (text: string) => string | undefined;

const isSecret: Check = (text) => (text.trim() === '' ? 'is empty' : undefined);

/** The characters of a header, without blanks (RFC 6750 2.1 allows fewer). */
const isToken: Check = (text) => isSecret(text) ?? (/^[!-~]+$/.test(text.trim()) ? undefined : 'has no token in it');

const isCertificate: Check = (text) => {
  try {
    new X509Certificate(text);
    return undefined;
  } catch {
    return 'has no certificate in PEM';
  }
};

function faultOf(path: string, readFile: ReadFile, check: Check): string | undefined {
  try {
    const fault = check(readFile(path));
    return fault && `the file ${path} ${fault}`;
  } catch (error) {
    return `cannot read the file: ${(error as Error).message}`;
  }
}
