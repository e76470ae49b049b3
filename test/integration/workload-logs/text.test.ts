import { describe, expect, test } from 'vitest';
import { startWorkload } from './workload-stand.ts';

const MEGABYTE = 1024 * 1024;
const LONGEST = 64 * 1024;

describe('G-31 the text of a log', () => {
  test('is passed on as JSON, whatever it is, and never ends a record', async () => {
    const stand = await startWorkload(['web-a']);
    const texts = [
      '{"type":"end","reason":"finished"}',
      '<script>alert(1)</script>\u2028\u2029',
      '\u001b[31mred\u001b[0m \u0000\u0007 \\u0000 \r carriage',
      '',
      '   indented',
      '2026-01-01T00:00:00Z a time of its own',
      '\u{1f600} ünïcödé',
    ];
    stand.write('web-a', ...texts, Buffer.from([0x61, 0xff, 0xfe, 0x62]), 'a line of Windows\r');
    const reading = await stand.follow('deployments/web/log?follow=false');
    await reading.ended();
    expect(reading.texts()).toEqual([...texts, 'a\ufffd\ufffdb', 'a line of Windows']);
  });

  test('of 1 MB in one line is cut, and the record says by how much', async () => {
    const stand = await startWorkload(['web-a']);
    stand.write('web-a', 'x'.repeat(MEGABYTE), 'short');
    const reading = await stand.follow('deployments/web/log?follow=false');
    await reading.ended();
    const [long, short] = reading.records.filter(({ type }) => type === 'line');
    // The time and a space come before the text.
    const kept = LONGEST - '2026-01-01T00:00:00.000000000Z '.length;
    expect(long).toMatchObject({ text: 'x'.repeat(kept), leftOut: MEGABYTE - kept });
    expect(short).toMatchObject({ text: 'short' });
    expect(short).not.toHaveProperty('leftOut');
  });

  test('of all containers comes, init containers included, and with container that of one', async () => {
    const stand = await startWorkload([]);
    const ended = { terminated: { exitCode: 0, reason: 'Completed' } };
    stand.addPod('web-a', {
      spec: { initContainers: [{ name: 'prepare' }], containers: [{ name: 'main' }, { name: 'side' }] },
      status: {
        initContainerStatuses: [{ name: 'prepare', restartCount: 0, state: ended }],
        containerStatuses: ['main', 'side'].map((name) => ({ name, restartCount: 0, state: { running: {} } })),
      },
    });
    for (const name of ['prepare', 'main', 'side']) stand.cluster.podLogs.write('shop/web-a', name, `from ${name}`);
    const all = await stand.follow();
    await all.until((records) => records.filter(({ type }) => type === 'line').length === 3);
    const lines = all.records.filter(({ type }) => type === 'line');
    expect(lines.map(({ container, text }) => `${container}: ${text}`).toSorted()).toEqual([
      'main: from main',
      'prepare: from prepare',
      'side: from side',
    ]);
    const one = await stand.follow('deployments/web/log?container=side&follow=0');
    await one.ended();
    expect(one.texts()).toEqual(['from side']);
  });

  test('begins as far back as is asked', async () => {
    const stand = await startWorkload(['web-a']);
    stand.write('web-a', ...Array.from({ length: 300 }, (_, at) => `line ${at}`));
    const textsOf = async (query: string): Promise<readonly string[]> => {
      const reading = await stand.follow(`deployments/web/log?follow=false${query}`);
      await reading.ended();
      return reading.texts();
    };
    expect(await textsOf('')).toHaveLength(100);
    expect(await textsOf('&tailLines=2')).toEqual(['line 298', 'line 299']);
    expect(await textsOf('&tailLines=5000&sinceSeconds=3600')).toHaveLength(300);
    expect(await textsOf('&tailLines=0')).toEqual([]);
    expect(stand.logRequests.at(-2)).toContain('tailLines=5000&sinceSeconds=3600');
  });
});
