import { formatQuantity, type Quantity, type QuantityFormat } from './quantity.ts';

/** An amount and the formats of its operands. Operands of zero do not count. */
export interface Amount {
  readonly nano: bigint;
  /** A bit for each of `FORMATS`. */
  readonly formats: number;
}

export const FORMATS: readonly QuantityFormat[] = ['BinarySI', 'DecimalSI', 'DecimalExponent'];

export const NOTHING: Amount = { nano: 0n, formats: 0 };

export const toAmount = ({ nano, format }: Quantity): Amount =>
  nano === 0n ? NOTHING : { nano, formats: 1 << FORMATS.indexOf(format) };

export function plus(a: Amount, b: Amount): Amount {
  if (b.nano === 0n) return a;
  return a.nano === 0n ? b : { nano: a.nano + b.nano, formats: a.formats | b.formats };
}

/** `format`: that of all operands; `undefined` if they have several, or if there are no operands. */
interface SumOfAmounts {
  readonly nano: bigint;
  readonly format: QuantityFormat | undefined;
}

/**
 * The sum in the format of its operands if they all have the same one. Otherwise in the usual format of the resource, so that the
 * order of the operands does not matter.
 */
export const sumText = (resource: 'cpu' | 'memory' | 'pods', { nano, format }: SumOfAmounts): string =>
  formatQuantity(nano, format ?? (resource === 'memory' ? 'BinarySI' : 'DecimalSI'));
