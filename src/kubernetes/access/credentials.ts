import { readFile } from 'node:fs/promises';
import type { Logger } from '../../observability/logger.ts';
import type { Clock } from '../../runtime/clock.ts';
import { LastingFailure } from '../../runtime/lasting-failure.ts';
import { headerOctets } from '../../runtime/text/header-text.ts';
import type { ClusterAccess, Source } from './cluster-access.ts';
import { ExecPlugin } from './exec-plugin.ts';
import { isSendable } from './header-text.ts';
import { authorities, clientPair } from './tls-material.ts';

/**
 * The certificates and settings of a TLS connection. When they change there is a new object, and connections made with the old one
 * are no longer used.
 */
export interface TlsMaterial {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
  readonly rejectUnauthorized: boolean;
}

export interface Credential {
  /** The `Authorization` header. */
  readonly authorization: string | undefined;
  readonly tls: TlsMaterial;
}

/** Files are read again before a request if the last read is this old. The kubelet updates them within a minute. */
const READ_AGAIN_MS = 10_000;

interface CredentialParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** The environment that an exec plugin gets. Default: an empty one. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
}

/**
 * Reads the credential, and again when it may have changed. If a read fails, the last valid credential stays in use (C-27, C-31).
 */
export class CredentialSource {
  #access: ClusterAccess;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #plugin: ExecPlugin | undefined;
  readonly #failure: LastingFailure;
  #last: Credential | undefined;
  #readAt = 0;
  #reading: Promise<Credential> | undefined;

  constructor(access: ClusterAccess, { clock, logger, environment = {} }: CredentialParts) {
    this.#access = access;
    this.#clock = clock;
    this.#logger = logger;
    this.#plugin = access.exec && new ExecPlugin(access.exec, { clock, environment });
    this.#failure = new LastingFailure(clock, logger);
  }

  /**
   * Reads the credential for the first time. Throws an `Error` of one sentence if a file cannot be read. A failed exec plugin
   * is only logged, because it may need the network, and the first request runs it again.
   */
  async load(): Promise<void> {
    if (this.#plugin) await readCredentialFiles(this.#access);
    try {
      await this.current();
    } catch (error) {
      if (!this.#plugin) throw unreadable(error);
      this.#logger.warn({ err: error }, 'the exec plugin of the kubeconfig gave no credential');
    }
  }

  /** The current credential; `undefined` if it must be read again first. */
  get fresh(): Credential | undefined {
    return this.#clock.monotonic() - this.#readAt < READ_AGAIN_MS ? this.#last : undefined;
  }

  /** The current credential. Rejects only if no read has ever succeeded. A plugin may take 30 s. */
  current(): Promise<Credential> {
    const { fresh } = this;
    return fresh ? Promise.resolve(fresh) : this.#readOnce();
  }

  /** Reads the credential again at once, and runs an exec plugin again; to be called after a 401. */
  renew(): Promise<Credential> {
    this.#plugin?.forget();
    return this.#readOnce();
  }

  /** Concurrent callers share one read. */
  #readOnce(): Promise<Credential> {
    this.#reading ??= this.#readOrKeep().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readOrKeep(): Promise<Credential> {
    this.#readAt = this.#clock.monotonic();
    try {
      this.#last = await this.#read(this.#last);
      this.#failure.over({}, 'the cluster credential is read again');
      return this.#last;
    } catch (error) {
      if (!this.#last) throw error;
      this.#failure.failed({ err: error }, 'cannot read the cluster credential again; keeping the last good one');
      return this.#last;
    }
  }

  async #read(last: Credential | undefined): Promise<Credential> {
    const own = await readOwn(this.#access);
    this.#access = withoutFallback(this.#access, own);
    const plugin = (await this.#plugin?.ask(own.authority)) ?? {};
    const tls = { ...own.tls, ...plugin.pair };
    return {
      authorization: plugin.authorization ?? own.authorization,
      tls: last && sameMaterial(last.tls, tls) ? last.tls : tls,
    };
  }
}

/**
 * Reads and checks every file that the access names, as the server does when it starts. Rejects with an `Error` of one sentence. An
 * exec plugin is not run.
 */
export async function readCredentialFiles(access: ClusterAccess): Promise<void> {
  await readOwn(access).catch((error) => {
    throw unreadable(error);
  });
}

/** Removes the kubeconfig's own token once the token file has been read, because that token is older. */
function withoutFallback(access: ClusterAccess, { authorization }: Credential): ClusterAccess {
  const { token } = access;
  if (!token || !('file' in token) || token.otherwise === undefined) return access;
  return authorization === bearer(token.otherwise) ? access : { ...access, token: { file: token.file } };
}

interface OwnCredential extends Credential {
  /** The CA certificates as they are written, with the text between them. */
  readonly authority: string | undefined;
}

/** The credential without the part that an exec plugin provides. */
async function readOwn(access: ClusterAccess): Promise<OwnCredential> {
  const { ca, certificate, key, token, basic, serverName, skipTlsVerify } = access;
  const [caText, certText, keyText, tokenText] = await Promise.all([ca, certificate, key, token].map(read));
  const tls: TlsMaterial = {
    ...(caText === undefined ? {} : { ca: authorities(caText) }),
    ...(certText === undefined || keyText === undefined ? {} : clientPair(certText, keyText)),
    ...(serverName ? { servername: serverName } : {}),
    rejectUnauthorized: !skipTlsVerify,
  };
  return { authorization: bearer(tokenText) ?? basicHeader(basic), tls, authority: caText };
}

async function read(source: Source | undefined): Promise<string | undefined> {
  if (!source) return undefined;
  if ('data' in source) return source.data.toString();
  const { file, otherwise } = source;
  const text = await readFile(file, 'utf8').catch((error) => {
    if (otherwise === undefined) throw error;
    return '';
  });
  if (text.trim() !== '') return text;
  // Somebody is writing an empty file at this moment. It counts as an error, so that the last valid content stays in use.
  if (otherwise === undefined) throw new Error(`${file} is empty`);
  return otherwise;
}

const unreadable = (error: unknown): Error =>
  new Error(`cannot read the cluster credential: ${messageOf(error)}`, { cause: error });

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function bearer(text = ''): string | undefined {
  const token = text.trim();
  if (!isSendable(token)) throw new Error('the token holds a character that no header can carry');
  return token === '' ? undefined : `Bearer ${headerOctets(token)}`;
}

const basicHeader = (basic: ClusterAccess['basic']): string | undefined =>
  basic && `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString('base64')}`;

const sameMaterial = (a: TlsMaterial, b: TlsMaterial): boolean =>
  a.ca === b.ca && a.cert === b.cert && a.key === b.key && a.servername === b.servername;
