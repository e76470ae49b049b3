import { X509Certificate } from 'node:crypto';
import type { ReadFile } from './clients.ts';
import type { Problem } from './problem.ts';
import type { FileConfig } from './schema.ts';

type Logging = FileConfig['logging'];

/** The problems in the settings of the log store. They quote nothing of the files. */
export function loggingProblems(logging: Logging, readFile: ReadFile): Problem[] {
  const { host, username, passwordFile, caFile } = logging;
  const problems: Problem[] = [];
  if ((username === undefined) !== (passwordFile === undefined)) {
    const [absent, present] = username === undefined ? ['username', 'passwordFile'] : ['passwordFile', 'username'];
    problems.push({ path: `logging.${absent}`, message: `is needed when logging.${present} is set` });
  }
  if (host !== undefined && !URL.canParse(host))
    problems.push({ path: 'logging.host', message: 'expected an address such as "https://opensearch.logging:9200"' });
  // RFC 7617 2: the first colon ends the name, and the rest would be read as the password.
  if (username?.includes(':')) problems.push({ path: 'logging.username', message: 'must not have a ":"' });
  const others = { username, passwordFile, caFile };
  for (const [name, value] of Object.entries(others))
    if (host === undefined && value !== undefined)
      problems.push({ path: `logging.${name}`, message: 'needs logging.host' });
  if (passwordFile !== undefined) problems.push(...unusable('passwordFile', passwordFile, readFile, isPassword));
  if (caFile !== undefined) problems.push(...unusable('caFile', caFile, readFile, isCertificate));
  return problems;
}

/** What the operator should know at start. */
export function loggingWarnings({ host, username, insecureSkipTLSVerify }: Logging): string[] {
  const warnings: string[] = [];
  if (host === undefined) return warnings;
  if (insecureSkipTLSVerify)
    warnings.push('logging.insecureSkipTLSVerify is on: anybody on the way to the log store can read and change logs');
  if (host.startsWith('http:') && username !== undefined)
    warnings.push('logging.host is plain http: the password of the log store crosses the network in clear');
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
    return fault ? [{ path: `logging.${name}`, message: `the file ${path} ${fault}` }] : [];
  } catch (error) {
    return [{ path: `logging.${name}`, message: `cannot read the file: ${(error as Error).message}` }];
  }
}
