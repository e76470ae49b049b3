/** How a quantity was written: `1Ki`, `1k`, `1e3`. */
export type QuantityFormat = 'BinarySI' | 'DecimalSI' | 'DecimalExponent';

/** A Kubernetes resource quantity, exact to the billionth. */
export interface Quantity {
  readonly nano: bigint;
  readonly format: QuantityFormat;
}

export const NANO = 10n ** 9n;

const QUANTITY = /^([+-]?)([0-9]*)(?:\.([0-9]*))?([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$/;
/** No real quantity is longer. The time to read digits as an integer grows with the square of their number. */
const LONGEST_TEXT = 128;
/**
 * The greatest quantity according to the documentation of Kubernetes: 2^63 - 1 units. Greater ones are capped to it. The
 * code of Kubernetes caps only binary quantities. A decimal one may have an exponent of nine digits there, and to compute
 * with that would take all memory.
 */
const GREATEST = (2n ** 63n - 1n) * NANO;

const POWER_OF_TEN: ReadonlyMap<string, number> = new Map([
  ...([
    ['n', -9],
    ['u', -6],
    ['m', -3],
    ['', 0],
    ['k', 3],
  ] as const),
  ...([
    ['M', 6],
    ['G', 9],
    ['T', 12],
    ['P', 15],
    ['E', 18],
  ] as const),
]);
const BINARY_PREFIXES = 'KMGTPE';

/**
 * Reads `resource.Quantity` text (https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/).
 * Fractions of a nano unit are rounded away from zero. A JSON number is read like its text. Returns `undefined` for a
 * value that is not a quantity.
 */
export function parseQuantity(value: unknown): Quantity | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || text.length > LONGEST_TEXT) return undefined;
  const [, sign = '', whole = '', fraction = '', suffix = ''] = QUANTITY.exec(text) ?? [];
  if (whole === '' && fraction === '') return undefined;
  const { factor, tens, format } = parseSuffix(suffix);
  const digits = BigInt(whole + fraction) * factor;
  const nano = scaleUp(digits, tens - fraction.length + 9);
  return { nano: sign === '-' ? -nano : nano, format };
}

function parseSuffix(suffix: string): { factor: bigint; tens: number; format: QuantityFormat } {
  if (suffix.endsWith('i')) {
    const power = BigInt(BINARY_PREFIXES.indexOf(suffix.charAt(0)) + 1);
    return { factor: 1024n ** power, tens: 0, format: 'BinarySI' };
  }
  const tens = POWER_OF_TEN.get(suffix);
  if (tens !== undefined) return { factor: 1n, tens, format: 'DecimalSI' };
  return { factor: 1n, tens: Number(suffix.slice(1)), format: 'DecimalExponent' };
}

/** `digits` * 10^tens, rounded up, between 0 and the greatest quantity. */
function scaleUp(digits: bigint, tens: number): bigint {
  if (digits === 0n) return 0n;
  // Beyond these powers the result is known: 10^29 nano units exceed the greatest quantity, and no text has 160 digits.
  // To compute a larger power could take for ever.
  if (tens > 29) return GREATEST;
  if (tens < -160) return 1n;
  const scaled = tens >= 0 ? digits * 10n ** BigInt(tens) : divideUp(digits, 10n ** BigInt(-tens));
  return scaled > GREATEST ? GREATEST : scaled;
}

/** Rounds a positive quotient up, away from zero. A negative one is cut toward zero. */
export const divideUp = (dividend: bigint, divisor: bigint): bigint =>
  dividend > 0n ? (dividend + divisor - 1n) / divisor : dividend / divisor;

const DECIMAL_SUFFIXES = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/**
 * The canonical text of a quantity, as `resource.Quantity` writes it: the largest suffix that leaves an integer. A binary
 * quantity below 1024 or with a fraction is written as a decimal one.
 */
export function formatQuantity(nano: bigint, format: QuantityFormat): string {
  if (nano === 0n) return '0';
  const small = nano > -1024n * NANO && nano < 1024n * NANO;
  if (format === 'BinarySI' && !small && nano % NANO === 0n) return formatBinary(nano / NANO);
  return format === 'DecimalExponent' ? formatExponent(nano) : formatDecimal(nano);
}

function formatBinary(units: bigint): string {
  const { rest, steps } = divideOut({ value: units, by: 1024n, atMost: BINARY_SUFFIXES.length - 1 });
  return `${rest}${BINARY_SUFFIXES[steps]}`;
}

function formatDecimal(nano: bigint): string {
  const { rest, steps } = divideOut({ value: nano, by: 1000n, atMost: DECIMAL_SUFFIXES.length - 1 });
  return `${rest}${DECIMAL_SUFFIXES[steps]}`;
}

function formatExponent(nano: bigint): string {
  const { rest, steps } = divideOut({ value: nano, by: 1000n, atMost: Number.POSITIVE_INFINITY });
  const exponent = 3 * steps - 9;
  return exponent === 0 ? `${rest}` : `${rest}e${exponent}`;
}

/** Divides as long as there is no remainder. `value` must not be zero, or the loop would not end. */
function divideOut({ value, by, atMost }: { value: bigint; by: bigint; atMost: number }): {
  rest: bigint;
  steps: number;
} {
  let rest = value;
  let steps = 0;
  while (steps < atMost && rest % by === 0n) {
    rest /= by;
    steps++;
  }
  return { rest, steps };
}
