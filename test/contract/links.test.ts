import { describe, expect, test } from 'vitest';
import { type Source, writtenSources } from './citations.ts';
import { brokenLinks } from './links.ts';

const OURS = 'https://github.com/gatehouse/gatehouse/blob/main/';
/** In two parts: whole, this file would name a page that is not there. */
const page = (name: string): string => `${'docs'}/${name}`;
const planted = (text: string): Source => ({ file: 'docs/operations/logs-and-audit.md', text });

describe('the links of pages, and the addresses and pages that other files name', () => {
  test('lead to a file and, where they name one, to a heading of it', () => {
    const sources = writtenSources().filter(({ file }) => !file.startsWith('test/contract/'));
    expect(sources.flatMap(brokenLinks)).toEqual([]);
  });

  test.each([
    '[nowhere](nowhere.md)',
    '[the page](../accounts.md#no-such-heading)',
    '# Here\n\n[up](#there)',
    '```sh\n# There\n```\n\n[up](#there)',
    '# Twice\n\n[the second](#twice-1)',
    `runbook_url: ${OURS}docs/operations/runbooks.md#gatehouseunheardof`,
    `${OURS}nowhere.md`,
    `as ${page('nowhere.md')} says`,
  ])('%j is caught where it is planted', (text) => {
    expect(brokenLinks(planted(text))).toHaveLength(1);
  });

  test.each([
    '[the page](../accounts.md#roles-and-who-may-give-which)',
    '# Here\n\n[up](#here)',
    '# Twice\n\n# Twice\n\n[the second](#twice-1)',
    '[a folder](../contract)',
    '[elsewhere](https://example.com/nowhere.md#there)',
    'the text `[a](b.md)` in code',
    `runbook_url: ${OURS}docs/operations/runbooks.md#gatehouseabsent`,
  ])('%j is let pass', (text) => {
    expect(brokenLinks(planted(text))).toEqual([]);
  });
});
