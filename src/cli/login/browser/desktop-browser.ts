import { spawn } from 'node:child_process';

/** The browser of the person at this machine. */
export interface Browser {
  /** Whether one can probably be opened, so that a sign-in by browser is the default. */
  readonly isThere: boolean;
  /** Opens the address. Calls `failed`, perhaps later, with the reason why it was not opened. */
  open(address: string, failed: (reason: string) => void): void;
}

interface Desktop {
  readonly platform: NodeJS.Platform;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** The programs that open an address in the browser that the person prefers. */
const OPENERS: Partial<Record<NodeJS.Platform, string>> = { linux: 'xdg-open', darwin: 'open' };

/** On Linux one of these variables names the display of a graphical session. A remote shell has none. */
const DISPLAYS = ['DISPLAY', 'WAYLAND_DISPLAY'];

/** Finds the browser of this machine. It is there where gcloud opens one, too: always on macOS, and on Linux in a graphical session. */
export function createBrowser({ platform, environment }: Desktop): Browser {
  const opener = OPENERS[platform];
  const isThere = platform === 'darwin' || (platform === 'linux' && DISPLAYS.some((name) => environment[name]));
  return {
    isThere,
    open: (address, failed) => {
      if (opener === undefined) return failed(`no program is known that opens it on ${platform}`);
      // No shell reads the address. A group of its own keeps a browser that starts now from being ended by Ctrl-C.
      const child = spawn(opener, [address], { env: environment, stdio: 'ignore', detached: true });
      child.once('error', () => failed(`${opener} cannot be run`));
      child.once('exit', (code) => code !== 0 && failed(`${opener} has failed`));
      child.unref();
    },
  };
}
