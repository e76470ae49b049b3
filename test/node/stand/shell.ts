import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * One shell in which commands run one after the other, as a person types them: variables, functions and programs in the
 * background stay. A command that fails ends the shell.
 */
export class Shell {
  readonly #folder: string;
  readonly #child: ChildProcess;
  #stdout = '';
  #stderr = '';
  #ended = false;
  #count = 0;
  #look = (): void => undefined;

  /** `folder` is where it runs. */
  constructor(folder: string, env: NodeJS.ProcessEnv) {
    this.#folder = folder;
    // A group of its own, so that what it left in the background ends with it.
    this.#child = spawn('sh', ['-eu'], {
      cwd: folder,
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    this.#child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
      this.#look();
    });
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    this.#child.stdin!.on('error', () => undefined);
    this.#child.once('exit', () => {
      this.#ended = true;
      this.#look();
    });
  }

  /** The standard output, once the last command has ended. Rejects with all output when a command fails. */
  async run(text: string): Promise<string> {
    const file = join(this.#folder, `.commands-${++this.#count}`);
    const mark = `<end of ${this.#count}>`;
    await writeFile(file, text);
    this.#stdout = '';
    this.#stderr = '';
    await new Promise<void>((resolve) => {
      this.#look = () => {
        if (this.#ended || this.#stdout.includes(mark)) resolve();
      };
      this.#child.stdin!.write(`. '${file}' </dev/null\nprintf '%s' '${mark}'\n`);
      this.#look();
    });
    const end = this.#stdout.indexOf(mark);
    if (end === -1) throw new Error(`a command failed in\n${text}\n${this.#stdout}\n${this.#stderr}`);
    return this.#stdout.slice(0, end);
  }

  /** Ends it and what it left in the background. */
  async stop(): Promise<void> {
    const exited = this.#ended ? undefined : once(this.#child, 'exit');
    try {
      process.kill(-this.#child.pid!, 'SIGKILL');
    } catch {
      // Nothing of it is left.
    }
    await exited;
  }
}
