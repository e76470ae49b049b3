import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createSecurityEvents } from '../../../src/observability/security-events.ts';

test('a security event is a log line, and one more on a counter that every event has from the start', async () => {
  const lines: Record<string, unknown>[] = [];
  const registry = new Registry();
  const events = createSecurityEvents(
    pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) }),
    registry,
  );
  expect(await registry.metrics()).toContain('gatehouse_security_events_total{event="sign_in_failures_many"} 0');
  events.report('sign_in_failures_many', { failures: 100 });
  expect(lines).toMatchObject([{ event: 'sign_in_failures_many', failures: 100 }]);
  expect(await registry.metrics()).toContain('gatehouse_security_events_total{event="sign_in_failures_many"} 1');
});
