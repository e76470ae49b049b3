import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { buildPage } from '../../dev/build/page.ts';

/** The limits of the contract for the first load, compressed. */
const MOST_SCRIPT_BYTES = 60_000;
const MOST_STYLE_BYTES = 10_000;

const ROOT = resolve(import.meta.dirname, '..', '..');

test('the first load of the page has at most 60 kB of script and 10 kB of style, compressed, and nothing of another host', async () => {
  const { files: page } = await buildPage(ROOT);
  const index = Buffer.from(page.get('index.html') ?? []).toString();
  const loaded = [...index.matchAll(/(?:src|href)="\/(assets\/[^"]+)"/g)].map(([, path = '']) => path);
  const sizeOf = (extension: string): number =>
    loaded
      .filter((path) => path.endsWith(extension))
      .reduce((sum, path) => sum + gzipSync(page.get(path) ?? '').length, 0);
  console.log(`script ${sizeOf('.js')} bytes, style ${sizeOf('.css')} bytes`);
  expect([...new Set(loaded.map((path) => path.split('.').at(-1)))].toSorted()).toEqual(['css', 'js', 'svg']);
  const main = Buffer.from(page.get(loaded.find((path) => path.startsWith('assets/main-')) ?? '') ?? []).toString();
  const needed = [...main.matchAll(/from\s*["']\.\/([^"']+)["']/g)].map(([, name]) => `assets/${name}`);
  expect(loaded).toEqual(expect.arrayContaining(needed));
  expect(sizeOf('.js')).toBeGreaterThan(10_000);
  expect(sizeOf('.js')).toBeLessThanOrEqual(MOST_SCRIPT_BYTES);
  expect(sizeOf('.css')).toBeLessThanOrEqual(MOST_STYLE_BYTES);
  const script = loaded
    .filter((path) => path.endsWith('.js'))
    .map((path) => Buffer.from(page.get(path) ?? []).toString())
    .join('\n');
  const hosts = [...(index + script).matchAll(/https?:\/\/([\w.-]+)/g)].map(([, host]) => host);
  expect(hosts.filter((host) => host !== 'www.w3.org')).toEqual([]); // the namespace of SVG
});
