import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Where certificate and key are, in PEM. */
export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Reads both. Throws one sentence for the operator that names the setting, and nothing of what is in a file. */
export function readTlsFiles({ certFile, keyFile }: TlsFiles): { readonly cert: Buffer; readonly key: Buffer } {
  const cert = read('server.tls.certFile', certFile);
  const key = read('server.tls.keyFile', keyFile);
  const certificate = parsed(() => new X509Certificate(cert));
  if (!certificate || !cert.includes('-----BEGIN CERTIFICATE-----')) {
    throw new Error(`server.tls.certFile: ${certFile} does not hold a certificate in PEM`);
  }
  const privateKey = parsed(() => createPrivateKey(key));
  if (!privateKey) throw new Error(`server.tls.keyFile: ${keyFile} does not hold an unencrypted private key in PEM`);
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new Error(`server.tls.keyFile: ${keyFile} is not the key of the certificate in ${certFile}`);
  }
  return { cert, key };
}

function read(setting: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(`${setting}: ${file} ${whyNot((error as NodeJS.ErrnoException).code)}`, { cause: error });
  }
}

function whyNot(code: string | undefined): string {
  switch (code) {
    case 'ENOENT':
      return 'does not exist';
    case 'EACCES':
      return 'may not be read by this user';
    case 'EISDIR':
      return 'is a directory';
    default:
      return `cannot be read (${code})`;
  }
}

/** What a parser says of a key may quote it: that it failed is all that is passed on. */
function parsed<Value>(parse: () => Value): Value | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}
