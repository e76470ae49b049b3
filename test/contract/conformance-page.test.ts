import { globSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readPage } from './promise-table.ts';

interface Module {
  readonly name: string;
  /** A file, or `–`. */
  readonly test: string;
  readonly result: string;
}

const page = readPage('docs/conformance.md');
const modules: readonly Module[] = [
  ...page.matchAll(/^\| `(oidcc-[\w-]+)` \| [^|]+ \| (?:`(test\/\S+)`|–) \| ([^|]+) \|$/gm),
].map(([, name = '', file = '–', result = '']) => ({ name, test: file, result }));

/** The modules in the titles of each test file. */
const titled = globSync('test/integration/openid-conformance/*.test.ts').flatMap((file) =>
  [...new Set([...readPage(file).matchAll(/'(oidcc-[\w-]+)/g)].map(([, name = '']) => name))].map(
    (name) => `${name} in ${file}`,
  ),
);

describe('docs/conformance.md', () => {
  test('has each module once, and every row of its tables can be read', () => {
    expect(modules.length).toBe([...page.matchAll(/^\| `oidcc-/gm)].length);
    expect(modules.length).toBeGreaterThan(40);
    expect(new Set(modules.map(({ name }) => name)).size).toBe(modules.length);
  });

  test('names the test of each module that is tested, and no other', () => {
    const tested = modules.filter((module) => module.test !== '–').map((module) => `${module.name} in ${module.test}`);
    expect(tested.sort()).toEqual(titled.sort());
  });

  test('says of each module that it passes, with what the suite warns of, or why it does not apply', () => {
    for (const { name, test: file, result } of modules) {
      const form = file === '–' ? /^does not apply: \w.+/ : /^passes(; the suite warns: .+)?$/;
      expect([name, result]).toEqual([name, expect.stringMatching(form)]);
    }
  });
});
