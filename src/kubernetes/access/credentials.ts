import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import type { ExecAuth } from '@kubernetes/client-node/dist/exec_auth.js';
import type { Logger } from '../../observability/logger.ts';
import { onAbort } from '../../runtime/abort.ts';
import type { Clock } from '../../runtime/clock.ts';
import { LastingFailure } from '../../runtime/lasting-failure.ts';
import type { ClusterAccess, ExecCommand, Source } from './cluster-access.ts';

/**
 * What a TLS connection needs. A new object means new material: connections made with the old one are no longer used.
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

/** Files are read again before a request when the last read is this old. The kubelet rotates them within a minute. */
const LOOK_AGAIN_MS = 10_000;

/**
 * Reads the credential, again when it may have changed. When a read fails, the last good one stays in use (C-27, C-31).
 */
export class CredentialSource {
  readonly #access: ClusterAccess;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #plugin: ExecPlugin | undefined;
  readonly #failure: LastingFailure;
  #last: Credential | undefined;
  #lookedAt = 0;
  #reading: Promise<Credential> | undefined;

  constructor(access: ClusterAccess, clock: Clock, logger: Logger) {
    this.#access = access;
    this.#clock = clock;
    this.#logger = logger;
    this.#plugin = access.exec && new ExecPlugin(access.exec, clock);
    this.#failure = new LastingFailure(clock, logger);
  }

  /**
   * The first read. Throws an `Error` of one sentence for a file that cannot be read. A failing exec plugin does not
   * make it throw: the plugin may need the network, and the first request asks it again.
   */
  async load(): Promise<void> {
    try {
      await this.current();
    } catch (error) {
      if (!this.#access.exec)
        throw new Error(`cannot read the cluster credential: ${messageOf(error)}`, { cause: error });
      this.#logger.warn({ err: error }, 'the exec plugin of the kubeconfig gave no credential');
    }
  }

  /** The credential to send now. Rejects only when none was ever read. A plugin may take 30 s. */
  current(): Promise<Credential> {
    const fresh = this.#clock.monotonic() - this.#lookedAt < LOOK_AGAIN_MS;
    return fresh && this.#last ? Promise.resolve(this.#last) : this.#readOnce();
  }

  /** After a 401: reads again at once, and asks an exec plugin for a new credential. */
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
    this.#lookedAt = this.#clock.monotonic();
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
    const { ca, certificate, key, token, basic, serverName, skipTlsVerify } = this.#access;
    const [caText, certText, keyText, tokenText] = await Promise.all([ca, certificate, key, token].map(read));
    const plugin = (await this.#plugin?.ask()) ?? {};
    const cert = plugin.cert ?? certText;
    const privateKey = plugin.key ?? keyText;
    const tls: TlsMaterial = {
      ...(caText ? { ca: caText } : {}),
      ...(cert ? { cert } : {}),
      ...(privateKey ? { key: privateKey } : {}),
      ...(serverName ? { servername: serverName } : {}),
      rejectUnauthorized: !skipTlsVerify,
    };
    return {
      authorization: plugin.authorization ?? bearer(tokenText) ?? basicHeader(basic),
      tls: last && sameMaterial(last.tls, tls) ? last.tls : tls,
    };
  }
}

async function read(source: Source | undefined): Promise<string | undefined> {
  if (!source) return undefined;
  const text = 'data' in source ? source.data.toString() : await readFile(source.file, 'utf8');
  // An empty file is a rotation caught half way. It counts as an error, so that the last good content stays in use.
  if ('file' in source && text.trim() === '') throw new Error(`${source.file} is empty`);
  return text;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const bearer = (token: string | undefined): string | undefined => (token ? `Bearer ${token.trim()}` : undefined);

const basicHeader = (basic: ClusterAccess['basic']): string | undefined =>
  basic && `Basic ${Buffer.from(`${basic.username}:${basic.password}`).toString('base64')}`;

const sameMaterial = (a: TlsMaterial, b: TlsMaterial): boolean =>
  a.ca === b.ca && a.cert === b.cert && a.key === b.key && a.servername === b.servername;

/** The credential that a plugin provides; empty when its answer has none. */
interface PluginCredential {
  readonly authorization?: string;
  readonly cert?: string;
  readonly key?: string;
}

/**
 * A cloud provider's plugin answers within seconds, even when it signs in first. One that takes longer is waiting for a
 * person.
 */
const TIME_LIMIT_MS = 30_000;

/**
 * The exec plugin of a kubeconfig (https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins).
 * Its answer is remembered for as long as it says.
 */
export class ExecPlugin {
  readonly #command: ExecCommand;
  readonly #clock: Clock;
  #auth: ExecAuth | undefined;

  constructor(command: ExecCommand, clock: Clock) {
    this.#command = command;
    this.#clock = clock;
  }

  /** Rejects when the plugin fails, or has not answered within 30 s: then it is killed. */
  async ask(): Promise<PluginCredential> {
    const { ExecAuth } = await import('@kubernetes/client-node/dist/exec_auth.js');
    this.#auth ??= new ExecAuth();
    const limit = new AbortController();
    // The library sets no time limit, but lets us start the program in another way.
    Object.assign(this.#auth, { execFn: spawnWithin(limit.signal) });
    const answer: { headers: Record<string, string>; cert?: string; key?: string } = { headers: {} };
    const cancel = this.#clock.after(TIME_LIMIT_MS, () => limit.abort());
    try {
      await this.#auth.applyAuthentication({ name: 'user', exec: this.#command }, answer);
    } catch (error) {
      throw limit.signal.aborted ? new Error(`${this.#command.command} gave no credential within 30 s`) : error;
    } finally {
      cancel();
    }
    const { Authorization: authorization } = answer.headers;
    const { cert, key } = answer;
    return { ...(authorization ? { authorization } : {}), ...(cert && key ? { cert, key } : {}) };
  }

  /** Forgets the remembered answer, so that the next `ask` runs the plugin again. */
  forget(): void {
    this.#auth = undefined;
  }
}

/** Kills the program when the signal aborts, and closes its output: processes that it started may hold that open. */
const spawnWithin =
  (signal: AbortSignal) =>
  (command: string, args: readonly string[] = [], options: object = {}) => {
    const child = spawn(command, args, {
      ...options,
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
      killSignal: 'SIGKILL',
    });
    onAbort(signal, () => {
      child.stdout.destroy();
      child.stderr.destroy();
    });
    return child;
  };
