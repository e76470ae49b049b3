const INTEGER = /^[+-]?[0-9]+$/;
/** Leading zeros apart, at most 19 digits: 2^63 - 1 has 19. The pattern is linear, so a long text costs nothing more. */
const SHORT_INTEGER = /^([+-]?)0*([0-9]{1,19})$/;
const LOWEST = -(2n ** 63n);
const HIGHEST = 2n ** 63n - 1n;

/** Decimal digits with an optional sign, of any length. */
export const isInteger = (text: string): boolean => INTEGER.test(text);

/** A signed 64-bit decimal integer, as Go's `strconv.ParseInt(text, 10, 64)` reads it; `undefined` for anything else. */
export function parseInteger64(text: string): bigint | undefined {
  const match = SHORT_INTEGER.exec(text);
  if (!match) return undefined;
  const value = match[1] === '-' ? -BigInt(match[2] ?? '') : BigInt(match[2] ?? '');
  return value >= LOWEST && value <= HIGHEST ? value : undefined;
}
