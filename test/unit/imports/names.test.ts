import { expect, test } from 'vitest';
import { covers, mostExact } from '../../imports/names.ts';

test.each([
  ['src/oauth', 'src/oauth/act.ts', true],
  ['src/oauth', 'src/oauth/tokens/deep/claims.ts', true],
  ['src/oauth', 'src/oauth-more/act.ts', false],
  ['src/oauth', 'test/src/oauth/act.ts', false],
  ['src/clock.ts', 'src/clock.ts', true],
  ['src/clock.ts', 'src/oauth/clock.ts', false],
  ['src/*.ts', 'src/clock.ts', true],
  ['src/*.ts', 'src/clock.js', false],
  ['src/*.ts', 'src/oauth/act.ts', false],
  ['src/key-*', 'src/key-plan.ts', true],
  ['src/key-*', 'src/plan-key.ts', false],
  ['src/*/metrics.ts', 'src/http/metrics.ts', true],
  ['src/*/metrics.ts', 'src/http/routes/metrics.ts', false],
  ['src/*/metrics.ts', 'src/metrics.ts', false],
])('the name %s means %s: %s', (name, file, expected) => {
  expect(covers(name, file)).toBe(expected);
});

test.each([
  ['src/oauth/tokens/claims.ts', 'src/oauth/tokens'],
  ['src/oauth/act.ts', 'src/oauth'],
  ['src/main.ts', 'src/main.ts'],
  ['src/service.ts', 'src/*.ts'],
  ['dev/demo.ts', undefined],
])('what means %s most exactly is %s', (file, expected) => {
  expect(mostExact(['src/*.ts', 'src/oauth', 'src/main.ts', 'src/oauth/tokens'], file)).toBe(expected);
});
