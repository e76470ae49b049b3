import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import type { Browser, Viewport } from 'puppeteer-core';
import { endAll } from '../support/at-end.ts';
import { startBrowser } from './browser.ts';
import { openPage, reads } from './page/page-stand.ts';
import { startFullPage, VIEWS } from './page/views.ts';
import { PAGES } from './pages.ts';
import { Person } from './tab.ts';

interface Picture {
  /** A key of `PAGES`. */
  readonly page: string;
  readonly language?: 'zh-CN';
  readonly width?: number;
  readonly media?: { readonly name: string; readonly value: string };
}

const DARK = { name: 'prefers-color-scheme', value: 'dark' };
const FORCED = { name: 'forced-colors', value: 'active' };

/** The pictures for the docs, by their file names. */
const PICTURES: Readonly<Record<string, Picture>> = {
  'sign-in': { page: 'sign-in' },
  'sign-in-dark': { page: 'sign-in', media: DARK },
  'sign-in-narrow': { page: 'sign-in', width: 360 },
  'sign-in-forced-colours': { page: 'sign-in', media: FORCED },
  'sign-in-chinese': { page: 'sign-in', language: 'zh-CN' },
  'wrong-password': { page: 'wrong-password' },
  throttled: { page: 'throttled', media: DARK },
  'new-password': { page: 'new-password-refused' },
  consent: { page: 'consent' },
  'consent-dark': { page: 'consent', media: DARK },
  'sign-out': { page: 'sign-out' },
  'other-account': { page: 'other-account' },
  'consent-narrow-chinese': { page: 'consent', width: 360, language: 'zh-CN' },
  'device-code': { page: 'device-code' },
  device: { page: 'device' },
  'lost-cookie': { page: 'lost-cookie' },
  return: { page: 'return' },
};

const FOLDER = new URL('../../docs/pictures/', import.meta.url);

async function take(browser: Browser, { page: name, language, width = 520, media }: Picture): Promise<Uint8Array> {
  const tab = await (await Person.at(browser)).tab();
  const { page } = tab;
  const size: Viewport = { width, height: 560, deviceScaleFactor: 2 };
  await page.setViewport(size);
  await page.emulateMediaFeatures([media ?? { name: 'prefers-color-scheme', value: 'light' }]);
  if (language) await page.setExtraHTTPHeaders({ 'Accept-Language': language });
  await PAGES[name]?.(tab);
  return page.screenshot({ fullPage: true });
}

/** Takes a view of the page as a person with a small screen sees it. */
async function takeView(browser: Browser, name: string, media: Picture['media']): Promise<Uint8Array> {
  const view = VIEWS[name];
  if (!view) throw new Error(`there is no view ${name}`);
  const tab = await openPage(browser, await startFullPage(), view.reader, view.path);
  await tab.page.setViewport({ width: 1280, height: 760 });
  if (media) await tab.page.emulateMediaFeatures([media]);
  await reads(tab, view.says);
  await view.open?.(tab);
  return tab.page.screenshot();
}

/** With 256 colours at most, in a third of the bytes. */
const withPalette = (png: Uint8Array): Buffer =>
  execFileSync('pngquant', ['--speed', '1', '--strip', '-'], { input: png, maxBuffer: png.length });

/** Every picture by its file name. */
const TAKEN: ReadonlyMap<string, (browser: Browser) => Promise<Uint8Array>> = new Map([
  ...Object.entries(PICTURES).map(([name, picture]) => [name, (browser: Browser) => take(browser, picture)] as const),
  ...Object.keys(VIEWS).flatMap((name) => [
    [`page-${name}`, (browser: Browser) => takeView(browser, name, { ...DARK, value: 'light' })] as const,
    [`page-${name}-dark`, (browser: Browser) => takeView(browser, name, DARK)] as const,
  ]),
]);

/**
 * Takes the pictures again, or those whose names begin with an argument. Chinese letters need a font that has them, such as that of
 * Debian's package `fonts-noto-cjk`.
 */
const wanted = process.argv.slice(2);
const { browser, end } = await startBrowser('Chromium');
mkdirSync(FOLDER, { recursive: true });
try {
  for (const [name, picture] of TAKEN) {
    if (wanted.length > 0 && !wanted.some((beginning) => name.startsWith(beginning))) continue;
    writeFileSync(new URL(`${name}.png`, FOLDER), withPalette(await picture(browser)));
    await endAll();
  }
} finally {
  await end();
}
