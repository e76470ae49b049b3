import { describe, expect, test } from 'vitest';
import { definedIds, type Source, unknownIds, unnamedSections, writtenSources } from './citations.ts';

const sources = writtenSources();
const defined = definedIds();

const planted = (text: string): Source => ({ file: 'docs/contract/tokens.md', text });
/** In two parts: whole, this file would cite what it plants. */
const section = (rest: string): string => `sect${'ion'} ${rest}`;

describe('the ids that code, tests and pages cite', () => {
  test('are rows of the pages of promises', () => {
    expect(sources.length).toBeGreaterThan(500);
    expect(sources.flatMap((source) => unknownIds(source, defined))).toEqual([]);
  });

  test('are found in every place that cites any', () => {
    const citing = sources.filter(({ text }) => unknownIds({ file: '', text }, new Set()).length > 0);
    const folders = new Set(citing.map(({ file }) => file.split('/')[0]));
    expect([...folders]).toEqual(expect.arrayContaining(['src', 'test', 'bench', 'docs']));
    expect(citing.length).toBeGreaterThan(150);
  });

  test.each(['N', 'XQ', 'C', 'T'])('%s-99 is caught where it is planted', (family) => {
    const id = `${family}-99`;
    expect(unknownIds(planted(`/** Never twice (${id}). */`), defined)).toEqual([`docs/contract/tokens.md: ${id}`]);
    expect(unknownIds(planted(`test('A-12 ${id} holds', ...)`), defined)).toHaveLength(1);
  });

  test.each(['I', 'F'])('%s9 is caught where it is planted', (family) => {
    expect(unknownIds(planted(`holds (${family}9)`), defined)).toHaveLength(1);
  });

  test.each(['SHA-256', 'UTF-8', 'ISO-8859-1', 'RFC-6749', 'CVE-2017-15361', 'A-Z', 'P-256', 'DNS-1123', 'E2%80%A8'])(
    '%s is none',
    (word) => {
      expect(unknownIds(planted(`made of ${word}, as ever`), new Set())).toEqual([]);
    },
  );
});

describe('the sections that code, tests and pages refer to', () => {
  test('have their page or their standard named, and are there', () => {
    expect(sources.flatMap(unnamedSections)).toEqual([]);
  });

  test.each([
    `nothing can be found out about them (${section('4')})`,
    `${section('10').replace('s', 'S')} of the contract`,
    `the rules of ${'§'}3`,
    `docs/contract/tokens.md, ${section('77')}`,
    `docs/contract/nowhere.md, ${section('1')}`,
    `[${section('4')}](#3-token-formats)`,
    `[${section('4')}](nodes.md#7-limits)`,
  ])('%s is caught where it is planted', (text) => {
    expect(unnamedSections(planted(text))).toHaveLength(1);
  });

  test.each([
    `RFC 7662, ${section('4')}`,
    `docs/contract/tokens.md, ${section('5.2')}`,
    `in \`docs/contract/http.md\`, ${section('3.1')}`,
    `one comment\n * line (docs/contract/nodes.md,\n * ${section('6')})`,
    `[${section('4')}](#4-sessions-and-refresh)`,
    `[nodes.md, ${section('3.1')}](nodes.md#31-selector-grammar)`,
  ])('%s is found', (text) => {
    expect(unnamedSections(planted(text))).toEqual([]);
  });
});
