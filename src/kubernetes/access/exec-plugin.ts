import { spawn } from 'node:child_process';
import type { ExecAuth } from '@kubernetes/client-node/dist/exec_auth.js';
import { onAbort } from '../../runtime/abort.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ExecCommand } from './cluster-access.ts';

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
