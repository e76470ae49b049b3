import { isDeepStrictEqual } from 'node:util';
import { isRecord } from './kube-object.ts';
import { ApiError, badRequest } from './status.ts';

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly from?: string;
  readonly value?: unknown;
}

/** Applies the operations of a JSON patch in order, all or none (RFC 6902). */
export function jsonPatch(target: object, patch: Buffer): unknown {
  const root = { whole: structuredClone(target) as unknown };
  for (const operation of operationsIn(patch)) apply(root, operation);
  return root.whole;
}

function operationsIn(patch: Buffer): readonly Operation[] {
  try {
    const parsed: unknown = JSON.parse(patch.toString());
    if (Array.isArray(parsed)) return parsed as readonly Operation[];
  } catch {
    // Refused below: the parser's error text would not be that of a real server anyway.
  }
  throw badRequest('error decoding patch: it is no list of operations');
}

function apply(root: object, { op, path, from = '', value }: Operation): void {
  const at = placeOf(root, path);
  if (op === 'add') add(at, value);
  else if (op === 'remove') take(at);
  else if (op === 'replace') replace(at, value);
  else if (op === 'move') add(at, take(placeOf(root, from)));
  else if (op === 'copy') add(at, structuredClone(read(placeOf(root, from))));
  else if (op !== 'test' || !isDeepStrictEqual(read(at), value)) throw rejected();
}

/** The place of a member in an object or a list. The member may be absent. */
interface Place {
  readonly parent: Record<string, unknown> | unknown[];
  readonly name: string;
}

/** Finds the place that a JSON pointer names (RFC 6901). */
function placeOf(root: object, pointer: string): Place {
  const steps = `/whole${pointer}`.split('/').slice(1);
  const names = steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const name = names.pop() ?? '';
  let parent: unknown = root;
  for (const step of names) parent = isContainer(parent) ? read({ parent, name: step }) : undefined;
  if (!isContainer(parent)) throw rejected();
  return { parent, name };
}

const isContainer = (value: unknown): value is Place['parent'] => isRecord(value) || Array.isArray(value);

function read({ parent, name }: Place): unknown {
  const value = Array.isArray(parent) ? parent[indexIn(parent, name)] : parent[name];
  if (value === undefined) throw rejected();
  return value;
}

function take(place: Place): unknown {
  const value = read(place);
  const { parent, name } = place;
  if (Array.isArray(parent)) parent.splice(indexIn(parent, name), 1);
  else delete parent[name];
  return value;
}

/** Adds an absent member of an object, like a real server. */
function replace(place: Place, value: unknown): void {
  if (Array.isArray(place.parent)) take(place);
  add(place, value);
}

function add({ parent, name }: Place, value: unknown): void {
  if (!Array.isArray(parent)) parent[name] = value;
  else parent.splice(name === '-' ? parent.length : indexIn(parent, name), 0, value);
}

function indexIn(list: readonly unknown[], name: string): number {
  if (!/^(?:0|[1-9]\d*)$/.test(name) || Number(name) > list.length) throw rejected();
  return Number(name);
}

const rejected = (): ApiError =>
  new ApiError({
    code: 422,
    reason: 'Invalid',
    message: 'the server rejected our request due to an error in our request',
    details: {},
  });
