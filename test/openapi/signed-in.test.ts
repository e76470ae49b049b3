import { expect, test } from 'vitest';
import { fuzz } from './schemathesis.ts';
import { DESCRIPTIONS, neverAnswered, operationsWhere, startDescribed } from './stand.ts';

const [, YAML] = DESCRIPTIONS;

test('a caller with all rights gets only answers that the YAML description has, each operation’s own among them', async () => {
  const { origin } = await startDescribed();
  const found = await fuzz({ description: origin + YAML, origin, caller: 'alice', args: ['--exclude-path=/metrics'] });
  expect(found.problems, found.text).toEqual([]);
  const withdrawn = operationsWhere(({ responses }) => '410' in responses && !('200' in responses));
  expect(withdrawn).toHaveLength(8);
  expect(neverAnswered(410, withdrawn, found)).toEqual([]);
  expect(
    neverAnswered(
      200,
      operationsWhere(({ responses }) => '200' in responses, YAML),
      found,
    ),
  ).toEqual([]);
});
