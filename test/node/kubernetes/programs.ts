import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ServerProcess, startServer } from '../../support/control-plane/server-process.ts';

const START_TIMEOUT_MS = 180_000;
const POLL_MS = 100;
/** A second or so, as the init system of a node waits. */
const AGAIN_AFTER_MS = 1_000;

/** The programs of the node, each with a log of its name. */
export class Programs {
  readonly #folder: string;
  readonly #running = new Map<string, ServerProcess>();
  #isStopping = false;

  constructor(folder: string) {
    this.#folder = folder;
  }

  start(name: string, binary: string, args: readonly string[]): void {
    this.add(name, startServer(binary, args, join(this.#folder, `${name}.log`)));
  }

  /** As `start`, and again whenever it has ended, as the init system of a node does. */
  keep(name: string, binary: string, args: readonly string[]): void {
    this.start(name, binary, args);
    const again = async (): Promise<void> => {
      await sleep(AGAIN_AFTER_MS, undefined, { ref: false });
      if (!this.#isStopping) this.keep(name, binary, args);
    };
    void this.#running.get(name)?.ended.then(again);
  }

  /** Takes over one that somebody else started. */
  add(name: string, program: ServerProcess): void {
    this.#running.set(name, program);
  }

  /** Resolves when `isSo`. Rejects with the end of the log of each program that ended, or of this one if it takes too long. */
  async until(name: string, isSo: () => Promise<boolean>): Promise<void> {
    const giveUpAt = performance.now() + START_TIMEOUT_MS;
    while (!(await isSo())) {
      const ended = [...this.#running].filter(([, program]) => !program.running).map(([one]) => one);
      if (ended.length === 0 && performance.now() < giveUpAt) await sleep(POLL_MS);
      else
        throw new Error(
          (await Promise.all((ended.length ? ended : [name]).map((one) => this.#ending(one)))).join('\n'),
        );
    }
  }

  /** Ends them all by their ids, the last one first. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const [name, program] of [...this.#running].reverse()) {
      await program.kill();
      this.#running.delete(name);
    }
  }

  async #ending(name: string): Promise<string> {
    const log = await readFile(join(this.#folder, `${name}.log`), 'utf8').catch(String);
    return `${name}.log ends with:\n${log.trimEnd().split('\n').slice(-30).join('\n')}`;
  }
}
