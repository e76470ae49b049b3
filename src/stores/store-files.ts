import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Logger } from '../observability/logger.ts';
import type { Clock } from '../runtime/clock.ts';
import { followFiles } from '../runtime/followed-file.ts';

export interface StoreFilesOptions {
  readonly username?: string | undefined;
  readonly passwordFile?: string | undefined;
  /** The file of a bearer token, in place of a user and a password. */
  readonly tokenFile?: string | undefined;
  readonly caFile?: string | undefined;
}

/** Our credentials for the store, and the CA certificates that verify its certificate, as they are in the files now. */
export interface StoreFiles {
  /** The value of `Authorization` (RFC 7617, RFC 6750). */
  authorization(): string | undefined;
  /** CA certificates in PEM. */
  ca(): string | undefined;
  run(signal: AbortSignal): Promise<void>;
}

/** Reads the files now, and again when they change. Throws if one cannot be read now; later the last content stays in use. */
export function openStoreFiles(
  { username, passwordFile, tokenFile, caFile }: StoreFilesOptions,
  { clock, logger, name }: { readonly clock: Clock; readonly logger: Logger; readonly name: string },
): StoreFiles {
  const credential = passwordFile ?? tokenFile;
  const toHeader = (text: string): string => (passwordFile ? basic(username, text) : `Bearer ${text.trim()}`);
  let authorization = credential && toHeader(readFileSync(credential, 'utf8'));
  let ca = caFile && readFileSync(caFile, 'utf8');
  const paths = [credential, caFile].filter((path) => path !== undefined);
  const reload = async (): Promise<void> => {
    try {
      if (credential) authorization = toHeader(await readFile(credential, 'utf8'));
      if (caFile) ca = await readFile(caFile, 'utf8');
    } catch (error) {
      logger.error({ err: error }, `the changed files of ${name} cannot be read: the last ones stay`);
    }
  };
  return {
    authorization: () => authorization,
    ca: () => ca,
    run: (signal) => followFiles(paths, reload, { clock, signal }),
  };
}

const basic = (username = '', password: string): string =>
  `Basic ${Buffer.from(`${username}:${password.replace(/^\uFEFF/, '').replace(/\r?\n$/, '')}`).toString('base64')}`;
