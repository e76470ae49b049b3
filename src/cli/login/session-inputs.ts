import type { LoginSessionOptions } from './login-arguments.ts';
import { LoginError, systemReason } from './login-error.ts';
import { type SessionPlace, type Surroundings, sessionPlace } from './session-place.ts';

/** What the options of a command name, read before anything is asked. */
export interface SessionInputs {
  readonly place: SessionPlace;
  /** The CA certificates in PEM; `undefined`: those of the system are used. */
  readonly authority: string | undefined;
  readonly clientSecret: string;
}

export interface FileReader {
  readFile(path: string): Uint8Array;
}

/** Reads the files that the options name. Throws a `LoginError` when one of them cannot be used. */
export function sessionInputs(options: LoginSessionOptions, parts: Surroundings & FileReader): SessionInputs {
  const place = sessionPlace(options, parts);
  const authority = authorityOf(options, parts);
  return { place, authority, clientSecret: secretOf(options, parts) };
}

/** The CA certificates in PEM; `undefined`: those of the system are used. */
export function authorityOf(options: LoginSessionOptions, { readFile }: FileReader): string | undefined {
  const { certificateAuthority: file, certificateAuthorityData: data } = options;
  if (file === undefined && data === undefined) return undefined;
  const pem =
    file === undefined ? Buffer.from(data ?? '', 'base64') : readOrFail('certificate authority', file, readFile);
  const text = Buffer.from(pem).toString();
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new LoginError(`the certificate authority ${file ?? 'in base64'} holds no certificate in PEM`);
}

/**
 * Without a secret file, the client id is sent as the secret. It is the secret of the built-in client of the platform kubesphere,
 * and the server treats it as no secret for a public client.
 */
function secretOf({ clientId, clientSecretFile }: LoginSessionOptions, { readFile }: FileReader): string {
  if (clientSecretFile === undefined) return clientId;
  return Buffer.from(readOrFail('client secret file', clientSecretFile, readFile))
    .toString()
    .trim();
}

/** Reads a file that the command line names. */
export function readOrFail(what: string, file: string, readFile: FileReader['readFile']): Uint8Array {
  try {
    return readFile(file);
  } catch (error) {
    throw new LoginError(`cannot read the ${what} ${file}: ${systemReason(error)}`);
  }
}
