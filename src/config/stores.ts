import { X509Certificate } from 'node:crypto';
import type { ReadFile } from './clients.ts';
import type { Problem } from './problem.ts';
import type { FileConfig } from './schema.ts';

/** The sections that name a store. */
const STORE_SECTIONS = ['logging', 'events', 'auditing'] as const;

type StoreSection = (typeof STORE_SECTIONS)[number];
type Settings = Readonly<Record<StoreSection, FileConfig[StoreSection]>>;

/** The problems in the settings of the stores. They quote nothing of the files. */
export const storeProblems = (settings: Settings, readFile: ReadFile): Problem[] =>
  STORE_SECTIONS.flatMap((section) => problemsOf(section, settings, readFile));

function problemsOf(section: StoreSection, settings: Settings, readFile: ReadFile): Problem[] {
  const { host, username, passwordFile, caFile } = settings[section];
  const problems: Problem[] = [];
  if ((username === undefined) !== (passwordFile === undefined)) {
    const [absent, present] = username === undefined ? ['username', 'passwordFile'] : ['passwordFile', 'username'];
    problems.push({ path: `${section}.${absent}`, message: `is needed when ${section}.${present} is set` });
  }
  if (host !== undefined && !URL.canParse(host))
    problems.push({
      path: `${section}.host`,
      message: 'expected an address such as "https://opensearch.logging:9200"',
    });
  // RFC 7617 2: the first colon ends the name, and the rest would be read as the password.
  if (username?.includes(':')) problems.push({ path: `${section}.username`, message: 'must not have a ":"' });
  const others = { username, passwordFile, caFile };
  for (const [name, value] of Object.entries(others))
    if (host === undefined && value !== undefined)
      problems.push({ path: `${section}.${name}`, message: `needs ${section}.host` });
  if (passwordFile !== undefined)
    problems.push(...unusable(`${section}.passwordFile`, passwordFile, readFile, isPassword));
  if (caFile !== undefined) problems.push(...unusable(`${section}.caFile`, caFile, readFile, isCertificate));
  return problems;
}

/** What the operator should know at start. */
export const storeWarnings = (settings: Settings): string[] =>
  STORE_SECTIONS.flatMap((section) => warningsOf(section, settings));

function warningsOf(section: StoreSection, settings: Settings): string[] {
  const { host, username, insecureSkipTLSVerify } = settings[section];
  const warnings: string[] = [];
  if (host === undefined) return warnings;
  if (insecureSkipTLSVerify)
    warnings.push(
      `${section}.insecureSkipTLSVerify is on: anybody on the way to the store can read and change what is in it`,
    );
  if (host.startsWith('http:') && username !== undefined)
    warnings.push(`${section}.host is plain http: the password of the store crosses the network in clear`);
  return warnings;
}

type Check = (text: string) => string | undefined;

const isPassword: Check = (text) => (text.trim() === '' ? 'is empty' : undefined);

const isCertificate: Check = (text) => {
  try {
    new X509Certificate(text);
    return undefined;
  } catch {
    return 'has no certificate in PEM';
  }
};

function unusable(name: string, path: string, readFile: ReadFile, check: Check): Problem[] {
  try {
    const fault = check(readFile(path));
    return fault ? [{ path: name, message: `the file ${path} ${fault}` }] : [];
  } catch (error) {
    return [{ path: name, message: `cannot read the file: ${(error as Error).message}` }];
  }
}
