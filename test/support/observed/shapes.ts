import type { Expectation } from './case.ts';
import type { WireAnswer } from './exchange.ts';

type Body = Readonly<Record<string, unknown>> | undefined;

/** The mistakes in the structure of a body, whatever its values are. */
export function shapeProblems(answer: WireAnswer, parsed: unknown, shape: NonNullable<Expectation['shape']>): string[] {
  const body = parsed as Body;
  if (shape === 'empty') return answer.text === '' ? [] : [`there is a body: ${answer.text.slice(0, 80)}`];
  const type = answer.headers['content-type'] ?? '';
  const problems = type.startsWith('application/json') ? [] : [`Content-Type is ${type}`];
  if (body === undefined) return [...problems, `the body is not JSON: ${answer.text.slice(0, 80)}`];
  return SHAPES[shape](body, answer)
    ? problems
    : [...problems, `the body is no ${shape}: ${answer.text.slice(0, 200)}`];
}

type Shape = (body: NonNullable<Body>, answer: WireAnswer) => boolean;

const SHAPES: Record<Exclude<NonNullable<Expectation['shape']>, 'empty'>, Shape> = {
  json: () => true,
  status: (body, { status }) =>
    body['kind'] === 'Status' &&
    body['apiVersion'] === 'v1' &&
    typeof body['metadata'] === 'object' &&
    body['status'] === 'Failure' &&
    typeof body['message'] === 'string' &&
    body['message'] !== '' &&
    body['code'] === status,
  oauth: (body) =>
    typeof body['error'] === 'string' &&
    Object.keys(body).every((name) => ['error', 'error_description'].includes(name)),
  token: (body) =>
    body['token_type'] === 'Bearer' &&
    typeof body['access_token'] === 'string' &&
    typeof body['refresh_token'] === 'string' &&
    Number.isInteger(body['expires_in']),
  list: (body) =>
    Array.isArray(body['items']) && Number.isInteger(body['totalItems']) && Object.keys(body).length === 2,
};
