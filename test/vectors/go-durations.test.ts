import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseGoDuration } from '../../src/resources/query/go-duration.ts';
import { readByGo } from '../support/go-durations.ts';
import { SEED } from '../support/seed.ts';

const TEXTS = 100_000;

const digits = fc.oneof(
  { weight: 16, arbitrary: fc.stringMatching(/^[0-9]{1,6}$/) },
  fc.constant(''),
  fc.constantFrom('0', '00', '9223372036854775807', '9223372036854775808', '9223372036854775809', '922337203685477580'),
  fc.stringMatching(/^[0-9]{17,40}$/),
);
const unit = fc.oneof(
  { weight: 30, arbitrary: fc.constantFrom('ns', 'us', '\u00b5s', '\u03bcs', 'ms', 's', 'm', 'h') },
  { weight: 1, arbitrary: fc.constantFrom('', 'S', 'd', 'min', 'µ', 'M', 'sec', ' s', 's ', '-', 'hm', '\u0663s') },
);
const number = fc
  .tuple(digits, fc.option(digits, { nil: undefined }))
  .map(([whole, fraction]) => (fraction === undefined ? whole : `${whole}.${fraction}`));
const term = fc.tuple(number, unit).map((parts) => parts.join(''));
const sign = fc.constantFrom('', '', '', '', '+', '-', '+-', ' ');
const duration = fc
  .tuple(sign, fc.array(term, { minLength: 0, maxLength: 4, size: 'max' }))
  .map(([before, terms]) => before + terms.join(''));
/** The longest durations of each unit, and one nanosecond more. */
const edge = fc.constantFrom(
  ...['9223372036854775807ns', '9223372036854775808ns', '-9223372036854775808ns', '-9223372036854775809ns'],
  ...['9223372036854775.807us', '9223372036854775.808us', '9223372036.854775807s', '9223372036.854775808s'],
  ...['153722867.28091293m', '2562047.788015215h', '2562047h47m16.854775807s', '2562047h47m16.854775808s'],
  ...['-2562047h47m16.854775808s', '-2562047h47m16.854775809s', '0.9223372036854775807h', '.1h', '1.h', '.', '.s', ''],
);
const text = fc.oneof(
  { weight: 20, arbitrary: duration },
  { weight: 1, arbitrary: edge },
  fc.string({ maxLength: 8, size: 'max' }),
);

test(`reads ${TEXTS} texts as Go's time.ParseDuration does (seed ${SEED})`, async () => {
  const texts = fc.sample(text, { numRuns: TEXTS, seed: SEED });
  const read = await readByGo(texts);
  const differences = texts.flatMap((one, at) => {
    const ours = parseGoDuration(one)?.toString() ?? null;
    return ours === read[at] ? [] : [{ text: one, ours, go: read[at] }];
  });
  const refused = read.filter((one) => one === null).length;
  console.info(`${TEXTS} texts: ${TEXTS - refused} durations, ${refused} refused, ${differences.length} differences`);
  expect(differences.slice(0, 20)).toEqual([]);
  expect(Math.min(refused, TEXTS - refused)).toBeGreaterThan(TEXTS / 20);
});
