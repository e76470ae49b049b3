import { describe, expect, it } from 'vitest';
import { parseStreamRecord } from '../../../../web/live-logs/stream-record.ts';

describe('a record of the stream', () => {
  it.each([
    { type: 'line', pod: 'a', container: 'c', time: '2026-01-02T03:04:05.000000001Z', text: '\u001b[0m</script>' },
    { type: 'line', pod: 'a', container: 'c', time: '', text: '', leftOut: 7 },
    { type: 'pod', event: 'restarted', pod: 'a', container: 'c', message: 'restarted, for the 2nd time' },
    { type: 'pod', event: 'joined', pod: 'a', message: 'new' },
    { type: 'more', shown: 50, pods: 73 },
    { type: 'cluster', event: 'away' },
    { type: 'idle' },
    { type: 'end', reason: 'gone', message: 'the object is gone' },
  ])('is read: %j', (record) => {
    expect(parseStreamRecord(JSON.stringify({ ...record, later: true }))).toEqual(record);
  });

  it.each([
    ...['', 'x', 'null', '7', '[]', '{}', '{"type":"later"}', '{"type":"line","pod":"a"}'],
    ...['{"type":"line","pod":7,"container":"c","text":"t"}', '{"type":"pod","event":"later","pod":"a"}'],
    ...['{"type":"more","shown":"50","pods":73}', '{"type":"cluster","event":"later"}'],
  ])('that the page does not know is skipped: %j', (line) => {
    expect(parseStreamRecord(line)).toBeUndefined();
  });
});
