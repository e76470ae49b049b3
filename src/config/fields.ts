import { z } from 'zod';
import { parseDuration } from './duration.ts';

/**
 * The kinds of values that settings have. Each names in its message what it expects. It also adds to the JSON Schema
 * what that has no words for: `x-type`, the kind of a text, and `x-limits`, its limits. The description of a setting
 * with a computed default ends with it: `Default: the issuer.` docs/configuration.md is generated from all this.
 */

/** A text of this form. */
export const textLike = (form: RegExp, wanted: string) =>
  z.string().regex(form, `expected ${wanted}`).meta({ 'x-limits': wanted });

/** The word for "no limit". */
const NO_LIMIT = 'none';

const DURATION_MESSAGE = 'expected a duration with its unit, such as "30s", "15m" or "2h"';

export interface DurationBounds {
  readonly minMs?: number;
  readonly maxMs?: number;
  /** Zero is accepted as well, where it has a meaning of its own. */
  readonly orZero?: boolean;
  /** The word `none` is accepted as well: no limit, which is Infinity in the program. */
  readonly orNone?: boolean;
  /** The bounds in words. */
  readonly bounds?: string;
}

/**
 * A Go duration: text in the file, milliseconds in the program. A bare number is refused, because its unit would be a
 * guess.
 */
export function duration(bounds: DurationBounds = {}) {
  const expected = bounds.orNone ? `${DURATION_MESSAGE}, or "${NO_LIMIT}"` : DURATION_MESSAGE;
  return z
    .string({ error: expected })
    .meta({ examples: ['30s', '2h'], 'x-type': 'duration', 'x-limits': bounds.bounds ?? '0s or more' })
    .transform((text, context) => {
      if (bounds.orNone && text === NO_LIMIT) return Number.POSITIVE_INFINITY;
      const ms = parseDuration(text);
      if (ms !== undefined && isWithin(ms, bounds)) return ms;
      context.addIssue({ code: 'custom', message: ms === undefined ? expected : `must be ${bounds.bounds}` });
      return z.NEVER;
    });
}

const isWithin = (
  ms: number,
  { minMs = 0, maxMs = Number.MAX_SAFE_INTEGER, orZero = false }: DurationBounds,
): boolean => (ms >= minMs && ms <= maxMs) || (orZero && ms === 0);

/** RFC 1123 label. */
export const dnsLabel = textLike(
  /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
  'a DNS label: lower-case letters, digits and "-", at most 63',
);

/** Name of a Kubernetes object: RFC 1123 subdomain of at most 253 characters. */
export const objectName = textLike(
  /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/,
  'a Kubernetes object name: lower-case letters, digits, "-" and ".", at most 253',
).max(253);

const PORT_MESSAGE = 'expected a port number';

/** A TCP port; 0 lets the kernel choose. */
export const port = z.int(PORT_MESSAGE).min(0, PORT_MESSAGE).max(65_535, PORT_MESSAGE);

export const path = z.string().min(1, 'expected a file path').meta({ 'x-type': 'path' });

export function countBetween(least: number, most: number) {
  const message = `expected a whole number from ${least} to ${most}`;
  return z.int(message).min(least, message).max(most, message);
}

/** A larger number is a typing mistake. */
export const count = countBetween(1, 1_000_000);

/** A section of the file: unknown keys are errors, an absent section takes every default. */
export function section<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.strictObject(shape).prefault({} as never);
}
