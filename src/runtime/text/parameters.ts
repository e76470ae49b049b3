import { badRequest, type StatusCause } from '../../status-error.ts';
import { readQueryPairs } from './query-pairs.ts';

/**
 * Reads the text of one parameter. Returns what the parameter sets, or the cause for which it is refused. A parameter that may be
 * empty sets nothing when it is empty.
 */
export type ParameterReader<Setting> = (text: string, name: string) => Setting | StatusCause;

/** A map, not an object: `__proto__` is a name like any other. */
export type ParameterReaders<Setting> = ReadonlyMap<string, ParameterReader<Setting>>;

/**
 * Reads the text behind the `?` (empty when there is none). Throws one 400 that names every bad parameter in query order. A
 * parameter given twice is refused, even with equal values, so that no proxy and no reader can disagree on which one counts.
 * `together` checks the accepted parameters against one another; it gets `areGood`, which is false if a parameter of one of the
 * names was refused.
 */
export function readParameters<Setting extends object>(
  queryString: string,
  readers: ParameterReaders<Setting>,
  together: (
    settings: readonly Setting[],
    areGood: (...names: readonly string[]) => boolean,
  ) => readonly StatusCause[] = () => [],
): readonly Setting[] {
  const parameters = parseQueryString(queryString);
  const causes: StatusCause[] = [];
  const settings: Setting[] = [];
  for (const name of parameters.values.keys()) {
    const setting = readParameter(name, parameters, readers);
    if ('reason' in setting) causes.push(setting);
    else settings.push(setting as Setting);
  }
  const bad = new Set(causes.map(({ field }) => field));
  const areGood = (...names: readonly string[]): boolean => !names.some((name) => bad.has(name));
  const found = inQueryOrder([...causes, ...together(settings, areGood)], [...parameters.values.keys()]);
  if (found[0]) throw badRequest(found[0].message, found);
  return settings;
}

/** Sorts causes by the position of their parameter in the query. A parameter that is absent comes last. */
function inQueryOrder(causes: readonly StatusCause[], names: readonly string[]): readonly StatusCause[] {
  if (causes.length < 2) return causes;
  const order = new Map(names.map((name, at) => [cut(name), at]));
  const placeOf = ({ field = '' }: StatusCause): number => order.get(field) ?? names.length;
  return causes.toSorted((a, b) => placeOf(a) - placeOf(b));
}

function readParameter<Setting>(
  name: string,
  { values, repeated }: QueryParameters,
  readers: ParameterReaders<Setting>,
): Setting | StatusCause {
  const read = readers.get(name);
  // The message never has the value: an unknown parameter may be a credential in the wrong place.
  if (!read) return refusal('FieldValueForbidden', `unknown query parameter ${quoted(name)}`, name);
  if (repeated.has(name)) {
    return refusal('FieldValueDuplicate', `query parameter "${name}" is given more than once`, name);
  }
  return read(values.get(name) ?? '', name);
}

export const refusal = (reason: string, message: string, name: string): StatusCause => ({
  reason,
  message,
  field: cut(name),
});

export function invalid(name: string, what: string, reason = 'FieldValueInvalid'): StatusCause {
  return refusal(reason, `invalid query parameter "${name}": ${what}`, name);
}

/** The parameters of a query string in order, each with its first value. */
interface QueryParameters {
  readonly values: ReadonlyMap<string, string>;
  /** Names that were given more than once. */
  readonly repeated: ReadonlySet<string>;
}

/** Throws a 400 without causes for a query that `readQueryPairs` refuses. */
function parseQueryString(text: string): QueryParameters {
  const pairs = readQueryPairs(text);
  if ('fault' in pairs) throw badRequest(pairs.fault);
  const values = new Map<string, string>();
  const repeated = new Set<string>();
  for (const [name, value] of pairs) {
    if (values.has(name)) repeated.add(name);
    else values.set(name, value);
  }
  return { values, repeated };
}

/** The first value of a parameter. `undefined` if it is absent, or if the query is malformed, which `readParameters` refuses. */
export function firstValue(queryString: string, name: string): string | undefined {
  const pairs = readQueryPairs(queryString);
  return 'fault' in pairs ? undefined : pairs.find(([one]) => one === name)?.[1];
}

const LONGEST_ECHO = 64;

/** The first 64 characters of a caller's text. No message repeats more of it. */
export function cut(text: string): string {
  if (text.length <= LONGEST_ECHO) return text;
  // A character outside the basic plane takes two units, so twice the units hold enough characters.
  return Array.from(text.slice(0, 2 * LONGEST_ECHO))
    .slice(0, LONGEST_ECHO)
    .join('');
}

/** Quotes a caller's text for an error message. */
export const quoted = (text: string): string => `"${cut(text)}"`;

const INTEGER = /^[+-]?[0-9]+$/;
/** At most 19 digits after leading zeros: 2^63 - 1 has 19. The pattern runs in linear time, so a long text does no harm. */
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
