import { NANO, type QuantityFormat } from './quantity.ts';

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

/** Divides while nothing is lost. `value` is not zero, so it ends. */
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
