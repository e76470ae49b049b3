import { describe, expect, test } from 'vitest';
import { chooseLanguage, toWait } from '../../../../src/http/sign-in/texts.ts';

describe('the language of the sign-in page', () => {
  test.each([
    [[], undefined, 'en'],
    [[], 'fr', 'en'],
    [[], 'zh', 'zh-CN'],
    [[], 'en;q=0.5, zh-TW;q=0.8', 'zh-CN'],
    [[], 'zh;q=0, en-GB', 'en'],
    [[], 'zh ; q=0.2 , en ;q=0.4', 'en'],
    [['fr', 'zh-Hans'], 'en', 'zh-CN'],
    [['en'], 'zh', 'en'],
  ])('B-22 with ui_locales %j and Accept-Language %j is %s', (locales, header, tag) => {
    expect(chooseLanguage(locales, header).tag).toBe(tag);
  });

  test('B-22 is looked for in the first 32 that the browser names', () => {
    const named = (others: number): string => `${'fr,'.repeat(others)}zh`;
    expect(chooseLanguage([], named(31)).tag).toBe('zh-CN');
    expect(chooseLanguage([], named(32)).tag).toBe('en');
  });

  test('B-22 is found behind 15,000 blanks', () => {
    expect(chooseLanguage([], `${' '.repeat(15_000)}zh`).tag).toBe('zh-CN');
  });
});

test.each([
  [1, 'Try again in a second.', '请在 1 秒后重试。'],
  [119, 'Try again in 119 seconds.', '请在 119 秒后重试。'],
  [121, 'Try again in 3 minutes.', '请在 3 分钟后重试。'],
])('B-25 a wait of %i seconds is said as people say it', (seconds, ...said) => {
  const languages = ['en', 'zh'].map((tag) => chooseLanguage([tag], undefined));
  expect(languages.map(({ texts }) => texts.retryAfter(toWait(seconds)))).toEqual(said);
});
