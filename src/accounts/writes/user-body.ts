import { isObject } from '../../runtime/text/json-value.ts';
import { quoted } from '../../runtime/text/parameters.ts';
import { parseStrictObject } from '../../runtime/text/strict-json.ts';
import { badRequest, type StatusCause } from '../../status-error.ts';
import type { AccountNames } from '../names.ts';
import { badField } from '../refusals.ts';
import { ofAnotherType } from '../users/user-fields.ts';

type Texts = Readonly<Record<string, string>>;

/** A User as a caller wrote it. A member that is absent or null is `undefined`; members that we do not know are dropped. */
export interface WrittenUser {
  readonly name: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly labels: Texts | undefined;
  readonly annotations: Texts | undefined;
  readonly hasSpec: boolean;
  readonly email: string | undefined;
  readonly lang: string | undefined;
  readonly displayName: string | undefined;
  readonly description: string | undefined;
  readonly groups: readonly string[] | undefined;
  readonly password: string | undefined;
  readonly state: string | undefined;
  /** Members of a wrong type. They count as absent. */
  readonly faults: readonly StatusCause[];
}

/** A User nests four levels; more than this is no User. */
const DEEPEST = 32;

/** Throws a 400 if the body is not a JSON object, has a member twice or names another kind (AC-11, AC-31). */
export function parseUser(body: Buffer, names: AccountNames): WrittenUser {
  const object = parseObject(body);
  for (const [member, expected] of [
    ['kind', 'User'],
    ['apiVersion', names.apiVersion],
  ] as const) {
    const said = object[member];
    if (said !== undefined && said !== null && said !== expected)
      throw badField(member, `must be ${expected}`, 'FieldValueInvalid');
  }
  const faults: StatusCause[] = [];
  const metadata = objectIn(object, 'metadata', 'metadata', faults) ?? {};
  const spec = objectIn(object, 'spec', 'spec', faults);
  const status = objectIn(object, 'status', 'status', faults) ?? {};
  const inMetadata = (member: string) => textIn(metadata, member, `metadata.${member}`, faults);
  const inSpec = (member: string) => textIn(spec ?? {}, member, `spec.${member}`, faults);
  return {
    name: inMetadata('name'),
    resourceVersion: inMetadata('resourceVersion'),
    labels: textsIn(metadata, 'labels', faults),
    annotations: textsIn(metadata, 'annotations', faults),
    hasSpec: spec !== undefined,
    email: inSpec('email'),
    lang: inSpec('lang'),
    displayName: inSpec('displayName'),
    description: inSpec('description'),
    groups: groupsIn(spec ?? {}, faults),
    password: inSpec('password'),
    state: textIn(status, 'state', 'status.state', faults),
    faults,
  };
}

/** AC-11: nothing of the body is repeated, since it may hold a password. */
export function parseObject(body: Buffer): Readonly<Record<string, unknown>> {
  if (body.length === 0) throw badRequest('the request has no body: a JSON object is expected');
  const object = parseStrictObject(body, DEEPEST);
  if (!object) throw badRequest('the body is no JSON object in UTF-8, or has a member twice');
  return object;
}

/** Reads a text; another type is a fault. */
export function textIn(
  object: Readonly<Record<string, unknown>>,
  member: string,
  field: string,
  faults: StatusCause[],
): string | undefined {
  const value = object[member];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  faults.push(ofAnotherType(field, 'a string'));
  return undefined;
}

function objectIn(
  object: Readonly<Record<string, unknown>>,
  member: string,
  field: string,
  faults: StatusCause[],
): Readonly<Record<string, unknown>> | undefined {
  const value = object[member];
  if (value === undefined || value === null) return undefined;
  if (isObject(value)) return value;
  faults.push(ofAnotherType(field, 'an object'));
  return undefined;
}

function textsIn(
  metadata: Readonly<Record<string, unknown>>,
  member: string,
  faults: StatusCause[],
): Texts | undefined {
  const field = `metadata.${member}`;
  const value = objectIn(metadata, member, field, faults);
  if (!value) return undefined;
  const odd = Object.keys(value).filter((key) => typeof value[key] !== 'string');
  faults.push(...odd.map((key) => ofAnotherType(`${field}[${quoted(key)}]`, 'a string')));
  return odd.length === 0 ? (value as Texts) : undefined;
}

function groupsIn(spec: Readonly<Record<string, unknown>>, faults: StatusCause[]): readonly string[] | undefined {
  const value = spec['groups'];
  if (value === undefined || value === null) return undefined;
  if (Array.isArray(value) && value.every((group) => typeof group === 'string')) return value;
  faults.push(ofAnotherType('spec.groups', 'an array of strings'));
  return undefined;
}
