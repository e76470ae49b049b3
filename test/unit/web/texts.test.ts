import { describe, expect, test } from 'vitest';
import { en } from '../../../web/texts/en.ts';
import { zh } from '../../../web/texts/zh.ts';

/** Every text by its path, with functions called with made-up values. */
function textsOf(catalogue: object, path = ''): Map<string, string> {
  const found = new Map<string, string>();
  for (const [name, value] of Object.entries(catalogue)) {
    const own = `${path}.${name}`;
    if (typeof value === 'object') for (const [key, text] of textsOf(value as object, own)) found.set(key, text);
    else found.set(own, typeof value === 'function' ? String(value('2', '3', '4')) : String(value));
  }
  return found;
}

/** Texts that are the same in both languages. */
const SAME: ReadonlySet<string> = new Set(['.none', '.accountPage.kubeconfig', '.logs.wordsHint']);

describe('the texts of the page', () => {
  test('W-16 every text is there in Chinese too, and none is left in English', () => {
    const [english, chinese] = [textsOf(en), textsOf(zh)];
    expect([...chinese.keys()]).toEqual([...english.keys()]);
    expect(english.size).toBeGreaterThan(100);
    const untranslated = [...english].filter(
      ([path, text]) => !SAME.has(path) && /[a-z]{4}/.test(text) && chinese.get(path) === text,
    );
    expect(untranslated).toEqual([]);
    const empty = [...chinese].filter(([, text]) => text.trim() === '' || /undefined|\[object|NaN/.test(text));
    expect(empty).toEqual([]);
  });
});
