import { shellWord } from '../../parts/shell-word.ts';
import type { Method, Operation, Parameter } from './description.ts';

/** What was typed for an operation: by `in` and name of each parameter, `path /*` for what is below a path, and the body. */
export type Typed = Readonly<Record<string, string>>;

export const BELOW = 'path /*';
export const BODY = 'body';

export const keyOf = ({ in: place, name }: Parameter): string => `${place} ${name}`;

interface PreparedRequest {
  readonly method: Method;
  /** Path and query. */
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly contentType?: string;
  readonly body?: string;
}

/** The request of an operation with what was typed. Fields that are empty are not sent. */
export function requestOf(operation: Operation, typed: Typed): PreparedRequest {
  const { method, parameters, accept, body } = operation;
  const given = (place: Parameter['in']): readonly (readonly [string, string])[] =>
    parameters
      .filter((parameter) => parameter.in === place)
      .map((parameter) => [parameter.name, typed[keyOf(parameter)] ?? ''] as const)
      .filter(([, value]) => value !== '');
  const query = String(new URLSearchParams(given('query').map(([name, value]) => [name, value])));
  const path = pathOf(operation, typed);
  const text = typed[BODY] ?? '';
  return {
    method,
    address: query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`,
    headers: { ...(accept === 'application/json' ? {} : { Accept: accept }), ...Object.fromEntries(given('header')) },
    ...(body && text !== '' ? { contentType: body.contentType, body: text } : {}),
  };
}

function pathOf({ path }: Operation, typed: Typed): string {
  const below = (typed[BELOW] ?? '').trim().replace(/^\/+/, '').replace(/#.*$/s, '').replaceAll(/\s/g, '%20');
  return path
    .replaceAll(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(typed[`path ${name}`] ?? ''))
    .replace(/\/\*$/, below === '' ? '' : `/${below}`);
}

/** The names of the parameters that must be there and are not. */
export const missingIn = ({ parameters }: Operation, typed: Typed): readonly string[] =>
  parameters
    .filter((parameter) => (parameter.in === 'path' || parameter.required) && (typed[keyOf(parameter)] ?? '') === '')
    .map(({ name }) => name);

const CREDENTIALS: Readonly<Record<Operation['caller'], readonly string[]>> = {
  anybody: [],
  person: ['-H "Authorization: Bearer $TOKEN"'],
  client: ['-u "$CLIENT_ID:$CLIENT_SECRET"'],
  server: ['-H "Authorization: Bearer $SERVER_TOKEN"'],
};

/** A client that names itself in the form may not do so in a header too (RFC 6749, section 2.3). */
const NAMES_ITSELF = /(?:^|&)client_id=/;

/** The same call for a shell, with the token in the variable `TOKEN`. No word of it means something else to the shell or to curl. */
export function curlOf(operation: Operation, typed: Typed, origin: string): string {
  const { method, address, headers, contentType, body } = requestOf(operation, typed);
  const all = { ...headers, ...(contentType === undefined ? {} : { 'Content-Type': contentType }) };
  return [
    'curl -sS -g',
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    ...(operation.caller === 'client' && NAMES_ITSELF.test(body ?? '') ? [] : CREDENTIALS[operation.caller]),
    ...Object.entries(all).map(([name, value]) => `-H ${shellWord(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`--data-raw ${shellWord(body)}`]),
    shellWord(origin + address),
  ].join(' ');
}
