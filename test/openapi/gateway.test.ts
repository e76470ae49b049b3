import { expect, test } from 'vitest';
import { fuzz } from './schemathesis.ts';
import { DESCRIPTIONS, startDescribed } from './stand.ts';

const [JSON_DESCRIPTION] = DESCRIPTIONS;

test('the paths of the cluster give only answers that the description has, the cluster’s own among them', async () => {
  const { origin } = await startDescribed({ gateway: { enabled: true } });
  const args = [String.raw`--include-path-regex=^/(apis?/\*|openapi/v2|openapi/v3/\*)$`, '--max-examples=5'];
  const found = await fuzz({ description: origin + JSON_DESCRIPTION, origin, caller: 'ada', args });
  expect(found.problems, found.text).toEqual([]);
  expect(found.statuses.size).toBe(20);
  expect(found.statuses.get('GET /openapi/v2')).toContain(200);
});
