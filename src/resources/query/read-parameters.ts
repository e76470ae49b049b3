import { badRequest, type StatusCause } from '../../status-error.ts';
import { cut, quoted } from './quoted.ts';

/** Reads one parameter's text into what it sets, or says why it cannot. A parameter that may be empty sets nothing then. */
export type ParameterReader<Setting> = (text: string, name: string) => Setting | StatusCause;

/** A map, not an object: `__proto__` is a name like any other. */
export type ParameterReaders<Setting> = ReadonlyMap<string, ParameterReader<Setting>>;

/**
 * Reads the text behind the `?` (empty when there is none). Throws one 400 that names every bad parameter in query order.
 * A parameter given twice is refused whatever its values, so that no proxy and no reader can disagree on which one counts.
 */
export function readParameters<Setting extends object>(
  queryString: string,
  readers: ParameterReaders<Setting>,
): readonly Setting[] {
  const parameters = parseQueryString(queryString);
  const causes: StatusCause[] = [];
  const settings: Setting[] = [];
  for (const name of parameters.values.keys()) {
    const setting = readParameter(name, parameters, readers);
    if ('reason' in setting) causes.push(setting);
    else settings.push(setting as Setting);
  }
  if (causes[0]) throw badRequest(causes[0].message, causes);
  return settings;
}

function readParameter<Setting>(
  name: string,
  { values, repeated }: QueryParameters,
  readers: ParameterReaders<Setting>,
): Setting | StatusCause {
  const read = readers.get(name);
  // Never the value: an unknown parameter may be a credential in the wrong place.
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

const MOST_PARAMETERS = 64;

/** The parameters of a query string in their order, each with its first value. */
interface QueryParameters {
  readonly values: ReadonlyMap<string, string>;
  /** Names that came more than once. */
  readonly repeated: ReadonlySet<string>;
}

/**
 * Splits on `&` only, skips empty pairs, reads `+` as a space and decodes percent-encoding once. Throws a 400 without causes
 * for an encoding that is not valid UTF-8 and for more than 64 parameters.
 */
function parseQueryString(text: string): QueryParameters {
  const pairs = text.split('&').filter((pair) => pair !== '');
  if (pairs.length > MOST_PARAMETERS) throw badRequest(`the query string has more than ${MOST_PARAMETERS} parameters`);
  const values = new Map<string, string>();
  const repeated = new Set<string>();
  for (const pair of pairs) {
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1));
    if (values.has(name)) repeated.add(name);
    else values.set(name, value);
  }
  return { values, repeated };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw badRequest('the query string is not valid percent-encoded UTF-8');
  }
}
