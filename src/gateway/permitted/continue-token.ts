import { hash } from 'node:crypto';
import { isObject } from '../../runtime/text/json-value.ts';

/**
 * The longest token of the cluster that we wrap, and the longest wrapped one that we read. The cluster's token holds a version and the
 * name of an object with its namespace, so it is far below a KiB.
 */
const LONGEST = 4_096;

const PREFIX = 'permitted.';

/** Where a list goes on. */
export interface ListPosition {
  /** The scope of the list (`PermittedScope.id`). A list does not go on over another scope. */
  readonly scopeId: string;
  /** The version of the whole list. */
  readonly version: string;
  /** The namespace that is next, when the list is made namespace by namespace. */
  readonly namespace?: string | undefined;
  /** The cluster's own token; absent at the beginning of a namespace. */
  readonly token?: string | undefined;
}

/** The `continue` that a client gets. Nothing in it gives a right: a client that changes it reads what the scope permits, or gets an error. */
export function writeContinue({ scopeId, version, namespace, token }: ListPosition): string {
  const text = JSON.stringify({ s: shortOf(scopeId), v: version, n: namespace, c: token });
  return PREFIX + Buffer.from(text).toString('base64url');
}

/** Whether we have made the token: the cluster would not understand it. */
export const isOurContinue = (text: string): boolean => text.startsWith(PREFIX);

/** Reads a `continue` of a list over this scope. `undefined`: it is not ours, or the scope was another one. */
export function readContinue(text: string, scopeId: string): ListPosition | undefined {
  if (!isOurContinue(text) || text.length > LONGEST) return undefined;
  try {
    const read: unknown = JSON.parse(Buffer.from(text.slice(PREFIX.length), 'base64url').toString());
    if (!isObject(read)) return undefined;
    const { s, v, n, c } = read;
    const isRead = s === shortOf(scopeId) && typeof v === 'string' && isTextOrAbsent(n) && isTextOrAbsent(c);
    return isRead ? { scopeId, version: v, namespace: n, token: c } : undefined;
  } catch {
    return undefined;
  }
}

const isTextOrAbsent = (value: unknown): value is string | undefined =>
  value === undefined || typeof value === 'string';

/** The id of a scope may be long; 96 bits are enough to know it again. */
const shortOf = (scopeId: string): string => hash('sha256', scopeId, 'base64url').slice(0, 16);
