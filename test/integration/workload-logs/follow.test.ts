import { expect, test } from 'vitest';
import { startWorkload } from './workload-stand.ts';

test('G-28 the lines of all pods of a deployment come in one stream, those from before and those that follow', async () => {
  const stand = await startWorkload();
  stand.write('web-a', 'early a');
  const reading = await stand.follow();
  expect(reading.status).toBe(200);
  expect(reading.headers.get('content-type')).toBe('application/x-ndjson');
  await reading.until((records) => records.some(({ text }) => text === 'early a'));
  for (const pod of ['web-a', 'web-b', 'web-c']) stand.write(pod, `late ${pod}`);
  await reading.until((records) => records.filter(({ type }) => type === 'line').length === 4);
  expect(reading.events.toSorted()).toEqual(['joined web-a', 'joined web-b', 'joined web-c']);
  expect(reading.texts().toSorted()).toEqual(['early a', 'late web-a', 'late web-b', 'late web-c']);
  const line = reading.records.find(({ text }) => text === 'early a');
  expect(line).toEqual({
    ...{ type: 'line', pod: 'web-a', container: 'main', text: 'early a' },
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/),
  });
});
