import { X509Certificate } from 'node:crypto';
import { parseCallerToken } from '../runtime/caller-token.ts';
import type { ReadFile } from './clients.ts';
import type { Problem } from './problem.ts';
import type { FileConfig } from './schema.ts';

const SECTION = 'authentication.tokenReview';

/** A shorter token can be guessed online, like a client's secret. */
const SHORT_TOKEN = 16;

/** The contradictions in the settings of the webhook, and files that cannot be used. Quotes nothing of the files. */
export function tokenReviewProblems({ authentication, server }: FileConfig, readFile: ReadFile): Problem[] {
  const { callerAuth, callerTokenFile, clientCAFile, clientNames } = authentication.tokenReview;
  const problems: Problem[] = [];
  const add = (setting: string, message: string | undefined): void => {
    if (message !== undefined) problems.push({ path: `${SECTION}.${setting}`, message });
  };
  if (callerAuth === 'none' && (callerTokenFile ?? clientCAFile) !== undefined)
    add('callerAuth', 'is none, so callerTokenFile and clientCAFile would protect nothing');
  if (callerTokenFile !== undefined)
    add(
      'callerTokenFile',
      tokenFault(() => readFile(callerTokenFile)),
    );
  if (clientCAFile !== undefined && !server.tls)
    add('clientCAFile', 'needs server.tls: without TLS there are no client certificates');
  else if (clientCAFile !== undefined)
    add(
      'clientCAFile',
      authorityFault(() => readFile(clientCAFile)),
    );
  // An authority signs for many holders. Without names, each of them could have tokens tried.
  if (clientCAFile !== undefined && !clientNames)
    add('clientNames', 'is needed with clientCAFile: name the callers whose certificates let them in');
  if (clientCAFile === undefined && clientNames)
    add('clientNames', 'needs clientCAFile: without it no client certificate is looked at');
  return problems;
}

/** What the operator should know at start. The files have been checked before. */
export function tokenReviewWarnings({ authentication }: FileConfig, readFile: ReadFile): string[] {
  const { callerAuth, callerTokenFile } = authentication.tokenReview;
  if (callerAuth === 'none')
    return ['authentication.tokenReview.callerAuth is none: whoever reaches the API port may have tokens reviewed'];
  const token = callerTokenFile === undefined ? undefined : parseCallerToken(readFile(callerTokenFile));
  return token !== undefined && token.length < SHORT_TOKEN
    ? [
        `the bearer in authentication.tokenReview.callerTokenFile is easy to guess: use at least ${SHORT_TOKEN} random characters`,
      ]
    : [];
}

function tokenFault(read: () => string): string | undefined {
  const text = readText(read);
  if ('fault' in text) return text.fault;
  return parseCallerToken(text.value) === undefined
    ? 'the file does not hold one bearer token: letters, digits and "-._~+/"'
    : undefined;
}

function authorityFault(read: () => string): string | undefined {
  const text = readText(read);
  if ('fault' in text) return text.fault;
  try {
    new X509Certificate(text.value);
    return undefined;
  } catch {
    return 'the file does not hold a certificate in PEM';
  }
}

function readText(read: () => string): { readonly value: string } | { readonly fault: string } {
  try {
    return { value: read() };
  } catch (error) {
    return { fault: `cannot read the file: ${(error as Error).message}` };
  }
}
