import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Browser } from './browser/desktop-browser.ts';
import type { FileReader } from './session-inputs.ts';
import type { LockParts } from './session-lock.ts';
import type { InputParts } from './sign-in-input.ts';
import type { Interruptible } from './until-interrupted.ts';

/** What every command needs. It takes no time to load: kubectl waits for it each time. */
export interface ClientParts extends FileReader {
  readonly clock: Clock;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly homeFolder: string | undefined;
  readonly userId: number | undefined;
  /** Writes a line to standard output, for the program that runs us. */
  print(line: string): void;
  /** Writes a line for the person. */
  complain(line: string): void;
  /** Whether this program is in a folder of PATH. */
  isInPath(command: string): boolean;
  /** Loads what a command needs that asks the server or a person. */
  loadMore(): Promise<AskingParts>;
}

/** What a command needs besides that asks the server or a person. */
export interface AskingParts
  extends Pick<InputParts, 'terminal' | 'readInput'>,
    Pick<LockParts, 'processId' | 'hostName' | 'isRunning'>,
    Interruptible {
  readonly random: Random;
  readonly browser: Browser;
}
