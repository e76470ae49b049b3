import { expect, test } from 'vitest';
import { descriptionText } from '../contract/description.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { fuzz } from './schemathesis.ts';
import { DESCRIPTIONS, neverAnswered, operationsWhere, PAGE_FORMS, startDescribed } from './stand.ts';

const [JSON_DESCRIPTION] = DESCRIPTIONS;

test('a caller without good credentials gets only answers that the JSON description has, and 200 only where none are demanded', async () => {
  const { origin } = await startDescribed();
  // Made-up credentials are generated, too. What comes before them is judged for a caller who has some.
  const judged = '--exclude-checks=positive_data_acceptance,unsupported_method';
  const args = ['--exclude-path=/metrics', '--max-examples=5', judged];
  const found = await fuzz({ description: origin + JSON_DESCRIPTION, origin, args });
  expect(found.problems, found.text).toEqual([]);
  const demanding = operationsWhere(
    ({ security = [{ bearer: [] }] }) => security.length > 0 && security.every(({ bearer }) => bearer),
  );
  expect(neverAnswered(401, demanding, found)).toEqual([]);
  expect(demanding.filter((operation) => found.statuses.get(operation)?.has(200))).toEqual([]);
  const open = operationsWhere(
    ({ security, responses }, name) => security?.length === 0 && '200' in responses && !PAGE_FORMS.includes(name),
    JSON_DESCRIPTION,
  );
  expect(open.length).toBeGreaterThan(10);
  expect(neverAnswered(200, open, found)).toEqual([]);
});

test('a caller without rights gets only answers that the description has, 403 among them', async () => {
  const { origin } = await startDescribed();
  const args = [
    '--include-path-regex=^/(kapis/resources|kapis/iam|kapis/tenant|kapis/monitoring|apis/)',
    '--max-examples=5',
    '--phases=examples,fuzzing',
  ];
  const found = await fuzz({ description: origin + JSON_DESCRIPTION, origin, caller: 'joe', args });
  expect(found.problems, found.text).toEqual([]);
  expect(
    neverAnswered(
      403,
      operationsWhere(({ responses }, name) => '403' in responses && !name.includes(' /oauth/')),
      found,
    ),
  ).toEqual([]);
});

test('the metrics port gives only answers that the description has', async () => {
  const { origin, metricsPort } = await startDescribed();
  const metrics = `http://127.0.0.1:${metricsPort}`;
  const found = await fuzz({
    description: origin + JSON_DESCRIPTION,
    origin: metrics,
    args: ['--include-path=/metrics'],
  });
  expect(found.problems, found.text).toEqual([]);
  expect([...(found.statuses.get('GET /metrics') ?? [])].sort()).toEqual([200, 204, 405]);
});

test('finds a status, a header and a member that the description does not have', async () => {
  const { origin } = await startDescribed();
  const notFound = "        '404':\n          $ref: '#/components/responses/NotFound'\n";
  const faulty = descriptionText
    .replaceAll(notFound, '')
    .replace('const: private, no-cache', 'const: no-cache')
    .replace('required: [gitVersion,', 'required: [codename, gitVersion,');
  const description = temporaryFolder().write('faulty.yaml', faulty);
  const paths = ['/version', '/kapis', '/livez/{check}'].map((path) => `--include-path=${path}`);
  const { problems } = await fuzz({ description, origin, caller: 'ada', args: [...paths, '--max-examples=5'] });
  expect([...problems].sort()).toEqual([
    'ST103 Undocumented status code: GET /livez/{check}',
    'ST108 Response header does not conform to the schema: GET /kapis',
    'ST108 Response violates schema: GET /version',
  ]);
});
