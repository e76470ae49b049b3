import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createLogger } from '../../../src/observability/logger.ts';
import { createAuditLines, createSecurityEvents } from '../../../src/observability/security-events.ts';

test('a security event is a log line, and one more on a counter that every event has from the start', async () => {
  const lines: Record<string, unknown>[] = [];
  const registry = new Registry();
  const events = createSecurityEvents(
    createAuditLines(pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) })),
    registry,
  );
  expect(await registry.metrics()).toContain('gatehouse_security_events_total{event="sign_in_failures_many"} 0');
  events.report('sign_in_failures_many', { failures: 100 });
  expect(lines).toMatchObject([{ event: 'sign_in_failures_many', failures: 100 }]);
  expect(await registry.metrics()).toContain('gatehouse_security_events_total{event="sign_in_failures_many"} 1');
});

test.each([
  ['ok', 'info'],
  ['inactive', 'info'],
  ['refused', 'warn'],
  ['throttled', 'warn'],
  ['busy', 'warn'],
  ['failed', 'warn'],
])('an act that came to %s is told at the level %s', (result, level) => {
  const lines: string[] = [];
  const logger = createLogger({ level: 'info', format: 'json' }, { write: (line) => void lines.push(line) });
  createSecurityEvents(createAuditLines(logger), new Registry()).report('introspection', { result });
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ event: 'introspection', result, level }]);
});

test.each([
  ['code_issued', 'ok', 'info'],
  ['code_redeemed', 'ok', 'info'],
  ['code_redeemed', 'refused', 'warn'],
  ['code_reused', 'refused', 'warn'],
] as const)('%s that came to %s is told at the level %s', (event, result, level) => {
  const lines: string[] = [];
  const logger = createLogger({ level: 'info', format: 'json' }, { write: (line) => void lines.push(line) });
  createSecurityEvents(createAuditLines(logger), new Registry()).report(event, { result });
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ event, result, level }]);
});
