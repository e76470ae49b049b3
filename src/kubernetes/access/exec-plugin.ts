import { spawn } from 'node:child_process';
import { onAbort } from '../../runtime/abort.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ExecCommand } from './cluster-access.ts';
import { execCredential, type PluginCredential } from './exec-credential.ts';
import { findProgram } from './find-program.ts';

/**
 * A cloud provider's plugin answers within seconds, even if it signs in first. A plugin that takes longer is waiting for a person.
 */
const TIME_LIMIT_MS = 30_000;
/** The longest output. A token, or a certificate with its key, has a few kilobytes. */
const LONGEST_ANSWER = 1024 * 1024;

interface PluginParts {
  readonly clock: Clock;
  /** The environment that the plugin gets, in addition to the variables of the kubeconfig. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * The exec plugin of a kubeconfig (https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins).
 * Its credential is reused until it expires. The output of a plugin may contain a secret, so no error quotes it.
 */
export class ExecPlugin {
  readonly #command: ExecCommand;
  readonly #parts: PluginParts;
  #answer: PluginCredential | undefined;

  constructor(command: ExecCommand, parts: PluginParts) {
    this.#command = command;
    this.#parts = parts;
  }

  /**
   * The credential. `authority` is the CA of the cluster in PEM, for a plugin with `provideClusterInfo`. Rejects when the plugin fails
   * or has not ended within 30 s; then it is killed.
   */
  async ask(authority?: string): Promise<PluginCredential> {
    const { expiresAt = Number.POSITIVE_INFINITY } = this.#answer ?? {};
    if (this.#answer && this.#parts.clock.now() <= expiresAt) return this.#answer;
    this.#answer = execCredential(await this.#run(authority), this.#command);
    return this.#answer;
  }

  /** Forgets the credential, so that the next `ask` runs the plugin again. */
  forget(): void {
    this.#answer = undefined;
  }

  async #run(authority: string | undefined): Promise<string> {
    const { command, env, installHint } = this.#command;
    const { clock, environment } = this.#parts;
    const program = await findProgram(command, environment['PATH'] ?? '');
    if (program === undefined)
      throw new Error(`the exec plugin ${command} is not there${installHint ? `: ${installHint}` : ''}`);
    const own = Object.fromEntries(env.map(({ name, value }) => [name, value]));
    const limit = new AbortController();
    const cancel = clock.after(TIME_LIMIT_MS, () => limit.abort());
    try {
      const variables = { ...environment, ...own, KUBERNETES_EXEC_INFO: this.#info(authority) };
      return await runWithin(limit.signal, { program, command: this.#command, variables });
    } finally {
      cancel();
    }
  }

  /** The `ExecCredential` in KUBERNETES_EXEC_INFO. It says that there is no terminal, and names the cluster if that is wanted. */
  #info(authority: string | undefined): string {
    const { apiVersion, cluster } = this.#command;
    const data =
      authority === undefined ? {} : { 'certificate-authority-data': Buffer.from(authority).toString('base64') };
    const spec = { ...(cluster ? { cluster: { ...cluster, ...data } } : {}), interactive: false };
    return JSON.stringify({ kind: 'ExecCredential', apiVersion, spec });
  }
}

interface Run {
  readonly program: string;
  readonly command: ExecCommand;
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/** Runs the program and returns its standard output; kills it when the signal aborts. */
function runWithin(signal: AbortSignal, { program, command, variables }: Run): Promise<string> {
  const fault = (text: string): Error => new Error(`the exec plugin ${command.command} ${text}`);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const child = start(program, command.args, variables);
    if (!child) return reject(fault('cannot be started: an argument or a variable of it holds a NUL'));
    /** Kills the program and closes its output, which its child processes may keep open. */
    const end = (error: Error): void => {
      child.kill('SIGKILL');
      child.stdout.destroy();
      reject(error);
    };
    const removeListener = onAbort(signal, () => end(new Error(`${command.command} gave no credential within 30 s`)));
    child.stdout.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > LONGEST_ANSWER) end(fault('wrote more than 1 MiB'));
      else chunks.push(chunk);
    });
    child.on('error', ({ code }: NodeJS.ErrnoException) => {
      removeListener();
      reject(fault(`cannot be started: ${code ?? 'no reason is known'}`));
    });
    child.on('close', (code, killedBy) => {
      removeListener();
      if (code === 0) resolve(Buffer.concat(chunks).toString());
      else reject(fault(`ended with ${killedBy ?? `exit code ${code}`}; run it by hand to see why`));
    });
  });
}

/** Starts the program without standard input. Drops Node's own errors, because they quote the argument. */
function start(program: string, args: readonly string[], env: Readonly<Record<string, string | undefined>>) {
  try {
    return spawn(program, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return undefined;
  }
}
