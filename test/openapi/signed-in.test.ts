import { expect, test } from 'vitest';
import { fuzz } from './schemathesis.ts';
import { DESCRIPTIONS, neverAnswered, operationsWhere, PAGE_FORMS, PAGE_SESSION, startDescribed } from './stand.ts';

const [, YAML] = DESCRIPTIONS;

/** Served with the gateway only. */
const WORKLOAD_LOGS = 'GET /kapis/resources.gatehouse.io/v1alpha3/namespaces/{namespace}/{resource}/{name}/log';
const FIRST_PASSWORD = 'PATCH /apis/iam.gatehouse.io/v1alpha2/users/{user}';

test('a caller with all rights gets only answers that the YAML description has, each operation’s own among them', async () => {
  const { origin } = await startDescribed();
  const found = await fuzz({ description: origin + YAML, origin, caller: 'ada', args: ['--exclude-path=/metrics'] });
  expect(found.problems, found.text).toEqual([]);
  const withdrawn = operationsWhere(({ responses }) => '410' in responses && !('200' in responses));
  expect(withdrawn).toHaveLength(8);
  expect(neverAnswered(410, withdrawn, found)).toEqual([]);
  expect(
    neverAnswered(
      200,
      operationsWhere(
        ({ responses }, name) =>
          '200' in responses && ![FIRST_PASSWORD, PAGE_SESSION, WORKLOAD_LOGS, ...PAGE_FORMS].includes(name),
        YAML,
      ),
      found,
    ),
  ).toEqual([]);
});

test('a caller who has to set a first password gets only answers that the description has, and sets one', async () => {
  const { origin } = await startDescribed();
  const args = ['--include-operation-id=setFirstPassword'];
  const found = await fuzz({ description: origin + YAML, origin, caller: 'ivy', args });
  expect(found.problems, found.text).toEqual([]);
  expect(found.statuses.get(FIRST_PASSWORD)).toContain(200);
});
