import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toContainerCount, toCount, toLogQuery } from '../../../src/documents/loki/loki-query.ts';
import { Largest } from '../../support/largest.ts';
import { type LogLists, logConditions } from '../../support/logs/log-conditions.ts';
import { checkSizes, type Sizes } from '../../support/property.ts';

const LABELS = { namespace: 'namespace', pod: 'pod', container: 'container' };
const queryOf = (filter: LogLists, namespaces?: readonly string[], labels = LABELS): string =>
  toLogQuery(logConditions(filter), namespaces, labels);

describe('the question to Loki', () => {
  test.each<[string, LogLists, readonly string[] | undefined, string]>([
    ['everything', {}, undefined, '{namespace=~".+"}'],
    ['namespaces', {}, ['a', 'b'], '{namespace=~"a|b"}'],
    ['pods', { pods: ['a.1', 'b'] }, ['n'], String.raw`{namespace=~"n",pod=~"a\\.1|b"}`],
    ['containers', { containers: ['a', 'b'] }, ['n'], '{namespace=~"n",container=~"a|b"}'],
    ['parts of pods', { pod_query: ['a', 'B'] }, ['n'], '{namespace=~"n",pod=~"(?i).*(?:a|B).*"}'],
    ['parts of workloads', { workload_query: ['a'] }, ['n'], '{namespace=~"n",pod=~"(?i).*(?:a).*"}'],
    ['parts of containers', { container_query: ['a'] }, ['n'], '{namespace=~"n",container=~"(?i).*(?:a).*"}'],
    ['texts', { log_query: ['a', 'b c'] }, ['n'], '{namespace=~"n"} |~ "(?i)a|b c"'],
  ])('about %s', (_, filter, namespaces, wanted) => {
    expect(queryOf(filter, namespaces)).toBe(wanted);
  });

  test('holds all lists together, each by itself', () => {
    const query = queryOf({ pods: ['p'], pod_query: ['q'], containers: ['c'], log_query: ['t'] }, ['n']);
    expect(query).toBe('{namespace=~"n",pod=~"p",pod=~"(?i).*(?:q).*",container=~"c"} |~ "(?i)t"');
  });

  test('uses the labels of the configuration', () => {
    const labels = { namespace: 'k8s_namespace', pod: 'k8s_pod', container: 'k8s_container' };
    expect(queryOf({ pods: ['p'], containers: ['c'] }, undefined, labels)).toBe(
      '{k8s_namespace=~".+",k8s_pod=~"p",k8s_container=~"c"}',
    );
    expect(toContainerCount('{}', 1, labels)).toContain('sum by (k8s_namespace,k8s_pod,k8s_container) (');
  });

  test('has the pods of a workload as patterns that Go reads', () => {
    expect(queryOf({ workloads: ['a.b'] }, ['n'])).toContain(
      String.raw`,pod=~"a\\.b-[bcdfghjklmnpqrstvwxz2456789]{1,10}`,
    );
    // Go refuses a backslash before a character beyond ASCII.
    expect(queryOf({ workloads: ['é\\é'] }, ['n'])).toContain(String.raw`pod=~"é\\\\é-`);
  });

  test('counts a nanosecond earlier, so that the beginning is counted and the end is not', () => {
    expect(toCount('{a="b"}', 90)).toBe('sum(count_over_time({a="b"}[90ms] offset 1ns))');
  });

  test('A-45 has the texts of callers as literal parts of an expression within quotation marks', () => {
    const largest = new Largest('a literal text', 'characters');
    const unit = fc.constantFrom(...'\\"`{}|()[]^$.*+?/#\n\t\0aA \u{1F600}');
    const phrasesOf = ({ upTo, isLargest }: Sizes) => {
      const text = fc.string({ unit: 'grapheme', ...upTo(256, 1) });
      const odd = fc.string({ unit, ...upTo(64, 1) });
      return fc.array(isLargest ? text : fc.oneof(text, odd), upTo(4, 1));
    };
    checkSizes(
      (sizes) =>
        fc.property(phrasesOf(sizes), (phrases) => {
          const [, string = ''] = /^\{namespace=~"n"\} \|~ (".*")$/s.exec(queryOf({ log_query: phrases }, ['n'])) ?? [];
          expect(string).toMatch(/^"(?:[^"\\\n]|\\.)*"$/s);
          const pattern = new RegExp(`^(?:${(JSON.parse(string) as string).slice('(?i)'.length)})$`, 'su');
          for (const phrase of phrases) expect(phrase.toWellFormed()).toMatch(pattern);
          expect(pattern.test(`${phrases.join('|').toWellFormed()}x`)).toBe(false);
          for (const { length } of phrases) largest.see(length);
        }),
      { cases: 500, short: 200 },
    );
    largest.expectAtLeast(256);
  });
});
