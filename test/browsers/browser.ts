import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import puppeteer, { type Browser, type LaunchOptions } from 'puppeteer-core';
import { ownProgram } from '../support/own-program.ts';

export const BRANDS = ['Chromium', 'Firefox'] as const;
export type Brand = (typeof BRANDS)[number];

/**
 * Debian's programs. The tests run as root, and Chromium has no sandbox for root; they open only our pages. `about:` keeps Firefox from
 * asking another site whether there is a network.
 */
const launched = (names: Names): Readonly<Record<Brand, LaunchOptions>> => ({
  Chromium: {
    browser: 'chrome',
    executablePath: ownProgram('chromium', process.env['PATH']),
    pipe: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      `--host-resolver-rules=${mapped(names)}, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost`,
    ],
  },
  Firefox: {
    browser: 'firefox',
    executablePath: ownProgram('firefox-esr', process.env['PATH']),
    extraPrefsFirefox: { 'network.dns.localDomains': Object.keys(names).join(',') },
  },
});

/** The hosts that the browser finds, with the address of each. Firefox finds all of them on this machine. */
type Names = Readonly<Record<string, string>>;
const HERE: Names = { 'gatehouse.test': '127.0.0.1' };

const mapped = (names: Names): string =>
  Object.entries(names)
    .map(([name, address]) => `MAP ${name} ${address}, EXCLUDE ${address}`)
    .join(', ');

export interface RunningBrowser {
  readonly browser: Browser;
  /** Ends the browser and its children, and removes everything that it wrote. */
  end(): Promise<void>;
}

interface Surroundings {
  /** Default: `gatehouse.test`, which is this machine. */
  readonly names?: Names;
  /** Starts the browser with the arguments that it gets. Default: Debian's program itself. */
  readonly program?: string;
}

/** Starts a browser without a window. Whatever it writes goes into one folder. */
export async function startBrowser(
  brand: Brand,
  { names = HERE, program }: Surroundings = {},
): Promise<RunningBrowser> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-browser-'));
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  const env = { PATH: process.env['PATH'], HOME: folder, TMPDIR: folder };
  const own = program === undefined ? {} : { executablePath: program };
  const options = { ...own, headless: true, acceptInsecureCerts: true, userDataDir: join(folder, 'profile'), env };
  try {
    const browser = await puppeteer.launch({ ...launched(names)[brand], ...options });
    const end = async (): Promise<void> => {
      await browser.close();
      removeFolder();
    };
    return { browser, end };
  } catch (error) {
    removeFolder();
    throw error;
  }
}
