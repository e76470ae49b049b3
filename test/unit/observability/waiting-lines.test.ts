import { describe, expect, test } from 'vitest';
import { type LostLines, WaitingLines } from '../../../src/observability/buffered-output.ts';
import { createAuditLogger, createLogger } from '../../../src/observability/logger.ts';

const MIB = 1024 * 1024;
const LINE = `${'x'.repeat(1023)}\n`;

/** A line of the audit trail as the logger writes it, as long as the others. */
function auditLine(): string {
  const written: string[] = [];
  const logger = createLogger({ level: 'info', format: 'json' }, { write: (line) => void written.push(line) });
  createAuditLogger(logger, 'info').info('');
  const [empty = ''] = written;
  return empty.replace('"msg":""', `"msg":"${'a'.repeat(LINE.length - empty.length)}"`);
}

/** A record of the audit trail in Kubernetes' form, as long as the others. */
function auditRecord(): string {
  const begun = '{"AuditID":"1","Message":"';
  return `${begun}${'a'.repeat(LINE.length - begun.length - 3)}"}\n`;
}

function newLines() {
  const told: LostLines[] = [];
  const lines = new WaitingLines((lost) => told.push(lost));
  const add = (line: string, times: number): void => {
    for (let time = 0; time < times; time++) lines.add(line);
  };
  /** Takes at least so much, and answers what it was. */
  const take = (length: number): string => {
    let taken = '';
    while (taken.length < length && !lines.isEmpty) taken += lines.take();
    return taken;
  };
  return { lines, told, add, take };
}

describe('lines that wait', () => {
  test('keep their order, and none is lost below the bound', () => {
    const { lines, add, take, told } = newLines();
    let expected = '';
    for (let index = 0; index < 1000; index++) {
      const line = `${index}`.padEnd(200, 'ü');
      expected += line;
      add(line, 1);
    }
    expect(take(MIB)).toBe(expected);
    expect([lines.lost, told, lines.isEmpty]).toEqual([{ audit: 0, other: 0 }, [], true]);
  });

  test.each([
    ['lines', auditLine],
    ['records', auditRecord],
  ])(
    'are 12 MiB at most, the audit trail aside, whose %s have 4 MiB more: what is above is dropped and counted',
    (_, auditLine) => {
      const { lines, add, take } = newLines();
      add(LINE, 20 * 1024);
      expect(lines.lost).toEqual({ audit: 0, other: 8 * 1024 });
      add(auditLine(), 5 * 1024);
      expect(lines.lost).toEqual({ audit: 1024, other: 8 * 1024 });
      expect(take(MIB * 1024)).toHaveLength(16 * MIB);
    },
  );

  test('are taken again once half of them have gone, behind the one call that tells of the loss', () => {
    const { lines, add, take, told } = newLines();
    add(LINE, 12 * 1024 + 7);
    take(5 * MIB);
    add(LINE, 2); // still within the same stretch
    expect(told).toEqual([]);
    take(MIB);
    expect(told).toEqual([{ audit: 0, other: 9 }]);
    add(LINE, 1);
    expect(take(MIB * 1024)).toHaveLength(6 * MIB + LINE.length);
    expect(lines.lost).toEqual({ audit: 0, other: 9 });
  });

  test('tell each stretch of losses by itself', () => {
    const { add, take, told, lines } = newLines();
    for (const count of [3, 5]) {
      add(LINE, 12 * 1024 + count);
      take(MIB * 1024);
    }
    expect(told).toEqual([
      { audit: 0, other: 3 },
      { audit: 0, other: 5 },
    ]);
    expect(lines.lost).toEqual({ audit: 0, other: 8 });
  });

  test('A-36 take no line for one of the audit trail because a caller wrote its mark', () => {
    const { lines, add } = newLines();
    const forged: string[] = [];
    const logger = createLogger({ level: 'info', format: 'json' }, { write: (line) => void forged.push(line) });
    logger.info({ userAgent: '"logger":"audit"' }, 'request');
    add(LINE, 12 * 1024);
    add(forged[0] ?? '', 1);
    expect(lines.lost).toEqual({ audit: 0, other: 1 });
  });
});
