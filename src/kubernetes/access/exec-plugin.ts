import { spawn } from 'node:child_process';
import type { ExecAuth } from '@kubernetes/client-node/dist/exec_auth.js';
import type { Clock } from '../../runtime/clock.ts';
import type { ExecCommand } from './cluster-access.ts';

/** What a plugin hands out; empty when it says nothing. */
interface PluginCredential {
  readonly authorization?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** A cloud's plugin answers within seconds, a sign-in of its own included. One that takes longer waits for a person. */
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
    // The library sets no limit, but has a place for another way to begin the program.
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

  /** The next answer is a new one. */
  forget(): void {
    this.#auth = undefined;
  }
}

/** Ends the program with the signal, and its output with it: what it has started itself may hold that open. */
const spawnWithin =
  (signal: AbortSignal) =>
  (command: string, args: readonly string[] = [], options: object = {}) => {
    const child = spawn(command, args, {
      ...options,
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
      killSignal: 'SIGKILL',
    });
    signal.addEventListener('abort', () => {
      child.stdout.destroy();
      child.stderr.destroy();
    });
    return child;
  };
