const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['\u00b5s', 1_000n], // the micro sign
  ['\u03bcs', 1_000n], // the Greek letter
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);

const SIGNED = /^([+-]?)(.*)$/s;
/** Digits, perhaps a point and more digits, then what stands before the next digit or point. */
const TERM = /(\d*)(?:\.(\d*))?([^.\d]+)/y;

const LARGEST = 2n ** 63n;
/** 2^63 has 19 digits. A number with more digits, leading zeros not counted, is too large in any unit. */
const MOST_DIGITS = 19;
/** When the value of a fraction exceeds this, Go ignores its further digits, which would not fit into 63 bits. */
const COUNTED = (LARGEST - 1n) / 10n;

/**
 * Nanoseconds of a duration as Go's `time.ParseDuration` reads it: `1h30m`, `1.5s`, `-2ms`, `0`. `undefined` for every other text, and
 * if the result does not fit into a signed 64-bit number. Equal to Go's to the nanosecond, its rounding of fractions included.
 */
export function parseGoDuration(text: string): bigint | undefined {
  const [, sign, terms = ''] = SIGNED.exec(text) ?? [];
  if (terms === '0') return 0n;
  if (terms === '') return undefined;
  let sum = 0n;
  for (TERM.lastIndex = 0; TERM.lastIndex < terms.length; ) {
    const term = TERM.exec(terms);
    const value = term && termValue(term);
    if (value === undefined || value === null) return undefined;
    sum = BigInt.asUintN(64, sum + value); // wraps as Go's uint64 does: two terms of 2^63 add up to 0
    if (sum > LARGEST) return undefined;
  }
  if (sign === '-') return -sum;
  return sum < LARGEST ? sum : undefined;
}

function termValue([, whole = '', fraction = '', unitName = '']: RegExpExecArray): bigint | undefined {
  const unit = UNITS.get(unitName);
  if (unit === undefined || (whole === '' && fraction === '')) return undefined;
  const digits = whole.replace(/^0+/, '');
  if (digits.length > MOST_DIGITS) return undefined;
  const value = BigInt(digits || '0') * unit + fractionValue(fraction, unit);
  return value > LARGEST ? undefined : value;
}

/** Uses floating point, because Go does. So fractions of an hour are equal to Go's to the nanosecond. */
function fractionValue(fraction: string, unit: bigint): bigint {
  let value = 0n;
  let scale = 1;
  for (const digit of fraction) {
    if (value > COUNTED) break;
    value = value * 10n + BigInt(digit);
    scale *= 10;
  }
  return BigInt(Math.trunc(Number(value) * (Number(unit) / scale)));
}
