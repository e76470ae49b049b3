import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { hurriedClock } from '../support/hurried-clock.ts';
import { RULES_FILE, type RulesFile } from './promtool.ts';

/**
 * These tests live this many times as fast as the world: the clock of each Gatehouse and of its cluster, and all durations of
 * the rules. An alert that waits for 5 minutes waits for 10 seconds here; the healthy hour takes two minutes. The wall clock, by
 * which keys, certificates and tokens are dated, does not change.
 */
const TIMES = 30;

export const HOUR_MS = 3_600_000 / TIMES;

export const clock = hurriedClock(TIMES);

const MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

const hurried = (duration: string): string =>
  duration.replace(/^(\d+)([smh])$/, (_, count, unit) => `${(Number(count) * (MS[unit] ?? Number.NaN)) / TIMES}ms`);

/** The shipped rules once for each job, in hurried time. Nothing else of them is changed. */
export function hurriedRules(jobs: readonly string[]): string {
  const { groups } = parse(readFileSync(RULES_FILE, 'utf8')) as RulesFile;
  const of = (job: string) =>
    groups.map(({ name, rules }) => ({
      name: `${name} ${job}`,
      rules: rules.map((rule) => ({
        ...rule,
        expr: rule.expr
          .replaceAll('job="gatehouse"', `job="${job}"`)
          .replaceAll(/\[(\w+)\]/g, (_, range) => `[${hurried(range)}]`),
        ...(rule.for ? { for: hurried(rule.for) } : {}),
        labels: { ...rule.labels, tested: job },
      })),
    }));
  return JSON.stringify({ groups: jobs.flatMap(of) });
}
