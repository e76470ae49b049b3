import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import type { ReadFile } from './clients.ts';
import type { Problem } from './problem.ts';
import type { FileConfig } from './schema.ts';

const CERTIFICATE = 'server.tls.certFile';
const KEY = 'server.tls.keyFile';

/**
 * Checks whether TLS could start with these files. They are read again when the port is opened. The problems quote
 * nothing of the files.
 */
export function tlsProblems(tls: FileConfig['server']['tls'], readFile: ReadFile): Problem[] {
  if (!tls) return [];
  const problems: Problem[] = [];
  const read = <Value>(setting: { path: string; file: string; kind: string }, parse: (pem: string) => Value) => {
    const found = readPem(() => readFile(setting.file), parse, setting.kind);
    if ('fault' in found) problems.push({ path: setting.path, message: found.fault });
    return 'fault' in found ? undefined : found.value;
  };
  const certificate = read({ path: CERTIFICATE, file: tls.certFile, kind: 'a certificate' }, toCertificate);
  const key = read({ path: KEY, file: tls.keyFile, kind: 'an unencrypted private key' }, toKey);
  if (certificate && key && !certificate.checkPrivateKey(key))
    problems.push({ path: KEY, message: 'is not the key of the certificate in certFile' });
  return problems;
}

const toCertificate = (pem: string): X509Certificate => new X509Certificate(pem);
const toKey = (pem: string): KeyObject => createPrivateKey(pem);

function readPem<Value>(
  read: () => string,
  parse: (pem: string) => Value,
  kind: string,
): { readonly value: Value } | { readonly fault: string } {
  let pem: string;
  try {
    pem = read();
  } catch (error) {
    return { fault: `cannot read the file: ${(error as Error).message}` };
  }
  try {
    return { value: parse(pem) };
  } catch {
    // Does not pass on the parser's message, which may quote what it could not read.
    return { fault: `the file does not hold ${kind} in PEM` };
  }
}
