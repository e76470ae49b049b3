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
const LAUNCHED: Readonly<Record<Brand, LaunchOptions>> = {
  Chromium: {
    browser: 'chrome',
    executablePath: ownProgram('chromium', process.env['PATH']),
    pipe: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--host-resolver-rules=MAP gatehouse.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
    ],
  },
  Firefox: {
    browser: 'firefox',
    executablePath: ownProgram('firefox-esr', process.env['PATH']),
    extraPrefsFirefox: { 'network.dns.localDomains': 'gatehouse.test' },
  },
};

export interface RunningBrowser {
  readonly browser: Browser;
  /** Ends the browser and its children, and removes everything that it wrote. */
  end(): Promise<void>;
}

/** Starts a browser without a window. Whatever it writes goes into one folder. `gatehouse.test` is this machine. */
export async function startBrowser(brand: Brand): Promise<RunningBrowser> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-browser-'));
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  const env = { PATH: process.env['PATH'], HOME: folder, TMPDIR: folder };
  const options = { headless: true, acceptInsecureCerts: true, userDataDir: join(folder, 'profile'), env };
  try {
    const browser = await puppeteer.launch({ ...LAUNCHED[brand], ...options });
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
