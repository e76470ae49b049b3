import { z } from 'zod';

/** Milliseconds of each unit of a Go duration (Go `time.ParseDuration`). */
const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

const TERM = /(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/gy;

/**
 * Reads a Go duration such as `2h`, `1h30m` or `250ms` into milliseconds; `undefined` if the text is not a duration. Only
 * `0` needs no unit. Negative durations are refused, because no setting has a use for them.
 */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  let total = 0;
  let end = 0;
  for (const [term, amount, unit] of text.matchAll(TERM)) {
    total += Number(amount) * (UNIT_MS[unit ?? ''] ?? 0);
    end += term.length;
  }
  return text !== '' && end === text.length ? total : undefined;
}

/**
 * The kinds of values that settings have. The message of each says what it expects. Each also adds to the JSON Schema what a schema
 * cannot express: `x-type` (the kind of a text), `x-limits` (its limits), `x-min-ms` and `x-max-ms` (the limits of a duration). The
 * description of a setting ends with its default if that is computed: `Default: the issuer.` docs/configuration.md and the checks
 * of the chart are generated from all this.
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
 * guess. Only 0 needs no unit; it is the same as `"0"`.
 */
export function duration(bounds: DurationBounds = {}) {
  const expected = bounds.orNone ? `${DURATION_MESSAGE}, or "${NO_LIMIT}"` : DURATION_MESSAGE;
  return z
    .union([z.literal(0), z.string({ error: expected })])
    .meta({
      examples: ['30s', '2h'],
      pattern: `^(${bounds.orNone ? `${NO_LIMIT}|` : ''}0|([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$`,
      'x-type': 'duration',
      'x-limits': bounds.bounds ?? '0s or more',
      ...(bounds.minMs !== undefined && { 'x-min-ms': bounds.minMs }),
      ...(bounds.maxMs !== undefined && { 'x-max-ms': bounds.maxMs }),
    })
    .transform((given, context) => {
      if (bounds.orNone && given === NO_LIMIT) return Number.POSITIVE_INFINITY;
      const ms = parseDuration(String(given));
      if (ms !== undefined && isWithin(ms, bounds)) return ms;
      context.addIssue({ code: 'custom', message: ms === undefined ? expected : `must be ${bounds.bounds}` });
      return z.NEVER;
    });
}

const isWithin = (
  ms: number,
  { minMs = 0, maxMs = Number.MAX_SAFE_INTEGER, orZero = false }: DurationBounds,
): boolean => (ms >= minMs && ms <= maxMs) || (orZero && ms === 0);

/** Bytes of each unit of memory (docs of Kubernetes, "Memory resource units"). */
const UNIT_BYTES: Readonly<Record<string, number>> = {
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Mi: 1024 ** 2,
  Gi: 1024 ** 3,
  Ti: 1024 ** 4,
};

const MEMORY = /^([1-9]\d*(?:\.\d+)?)(M|G|T|Mi|Gi|Ti)$/;

const MEMORY_MESSAGE = 'expected an amount of memory with its unit, such as "256Mi" or "1Gi"';

/**
 * An amount of memory: a quantity of Kubernetes in the file, bytes in the program. A bare number is refused, because its unit would be a
 * guess. Units below a million bytes are refused, because in settings they are typing mistakes: `256m` is a quarter of a byte.
 */
export const memory = z
  .string({ error: MEMORY_MESSAGE })
  .regex(MEMORY, MEMORY_MESSAGE)
  .meta({ examples: ['256Mi', '1Gi'], 'x-type': 'amount of memory', 'x-limits': 'at least 1M' })
  .transform((given) => {
    const [, amount, unit = ''] = MEMORY.exec(given) ?? [];
    return Math.floor(Number(amount) * (UNIT_BYTES[unit] ?? 0));
  });

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
