import { describe, expect, test } from 'vitest';
import { CLUSTER_QUERIES, NODE_QUERIES } from '../../../src/monitoring/named-queries.ts';
import { nodeMatcher } from '../../../src/monitoring/node-matcher.ts';
import { parseQuestion } from '../../../src/monitoring/question.ts';

const OFFERED = ['node_cpu_usage', 'node_load1'];
const parse = (query: string) => parseQuestion(query, OFFERED, true);

describe('a question', () => {
  test('CO-20 without parameters is all metrics of all nodes now', () => {
    expect(parse('')).toEqual({ metrics: OFFERED, nodes: [], time: { time: undefined }, ranking: undefined });
  });

  test('CO-20 has whole names, each once, in their order, without those that are not offered', () => {
    const { metrics } = parse('metrics_filter=node_load1%7Cnode_gpu%7Cnode_cpu_usage%7Cnode_load1%24');
    expect(metrics).toEqual(['node_load1', 'node_cpu_usage']);
    expect(parse('metrics_filter=node_cpu').metrics).toEqual([]);
  });

  test.each([
    ['600s', 600],
    ['10m', 600],
    ['1h30m', 5_400],
    ['1.5s', 1.5],
    ['1000ms', 1],
    ['1d', 86_400],
  ])('CO-20 has the step %s', (step, seconds) => {
    expect(parse(`start=0.5&end=3600&step=${step}`).time).toEqual({ start: 0.5, end: 3_600, step: seconds });
  });

  test('CO-20 has as many points as Prometheus allows, and no more', () => {
    expect(parse('start=0&end=10999.5&step=1s').time).toEqual({ start: 0, end: 10_999.5, step: 1 });
    expect(() => parse('start=0&end=11000&step=1s')).toThrow('invalid query parameter "step"');
  });

  test('CO-09 has an order only where it is no range, and no order of the cluster', () => {
    const ranking = { metric: 'node_load1', order: 'desc', page: 1, limit: 5 };
    expect(parse('sort_metric=node_load1').ranking).toEqual(ranking);
    expect(parse('sort_metric=node_load1&start=1&end=2').ranking).toBeUndefined();
    expect(parseQuestion('sort_metric=anything', OFFERED, false).ranking).toBeUndefined();
  });

  test('CO-09 ignores parameters that it does not know, whatever their names', () => {
    expect(parse('type=rank&times=20&constructor=x&__proto__=y&cluster=')).toEqual(parse(''));
  });

  test('CO-09 names every bad parameter', () => {
    expect(() => parse('page=0&time=x')).toThrow(
      expect.objectContaining({
        answer: expect.objectContaining({
          details: { causes: [expect.objectContaining({ field: 'page' }), expect.objectContaining({ field: 'time' })] },
        }),
      }),
    );
  });
});

describe('the table', () => {
  test('CO-09 has 31 metrics of nodes and 49 of the cluster, by the names of 3.4', () => {
    expect([NODE_QUERIES.size, CLUSTER_QUERIES.size]).toEqual([31, 49]);
    for (const name of NODE_QUERIES.keys()) expect(name).toMatch(/^node_[a-z0-9_]+$/);
    for (const name of CLUSTER_QUERIES.keys()) expect(name).toMatch(/^cluster_[a-z0-9_]+$/);
  });

  test('CO-09 puts the chosen nodes into every query of nodes', () => {
    const matcher = nodeMatcher(['a']);
    for (const [name, query] of NODE_QUERIES) expect(query(matcher), name).toContain('node=~"a"');
  });
});

test.each([
  [[], ''],
  [['a', 'b-1'], ',node=~"a|b-1"'],
  [['a.b'], String.raw`,node=~"a\\.b"`],
  [['"} or up #'], String.raw`,node=~"\"} or up #"`.replace('}', String.raw`\\}`)],
  [['a\\', '.*', 'x\ny'], String.raw`,node=~"a\\\\|\\.\\*|x\ny"`],
])('CO-09 the names %j are literal in PromQL', (names, matcher) => {
  expect(nodeMatcher(names)).toBe(matcher);
});
