import type { KubernetesObject } from '../../kubernetes/object.ts';
import { isObject } from '../../runtime/text/json-value.ts';
import { parseStrictJson } from '../../runtime/text/strict-json.ts';
import { badRequest } from '../../status-error.ts';
import { passwordFaults } from '../passwords/password-rules.ts';
import type { Caller } from './caller.ts';
import { setPassword } from './change-password.ts';
import { type AnsweredUser, currentUser, isOwn, type UserWriteParts } from './user-writes.ts';

/** How deep the JSON patch (RFC 6902) may nest: one that sets a first password is a list of flat objects. */
const DEEPEST = 8;

type FirstPassword = { readonly password: string | undefined };

/**
 * The JSON patch with which clients of 3.4 set the first password (docs/contract/accounts.md, section 6.7): it removes the
 * annotation `uninitialized`, alone or together with a replaced `/spec/password`. Any other patch gets a 403, and nothing is
 * written.
 */
export function createFirstPassword(
  parts: UserWriteParts,
): (request: { readonly name: string; readonly body: Buffer }, caller: Caller) => Promise<AnsweredUser> {
  const { names, objects, roles, refusals } = parts;
  const refused = (name: string) =>
    refusals.forbiddenChange(name, 'this path takes the first password of the caller and nothing else');
  return async ({ name, body }, caller) => {
    if (caller.name !== name) throw refused(name);
    const operations = parseStrictJson(body, DEEPEST);
    if (!Array.isArray(operations)) throw badRequest('the body is no JSON patch (RFC 6902) in UTF-8');
    const asked = toFirstPassword(operations, parts);
    if (!asked) throw refused(name);
    const stored = await currentUser(name, parts);
    isOwn(stored, caller, parts);
    if (!stored.metadata.annotations?.[names.uninitialized]) throw refused(name);
    if (asked.password !== undefined) {
      const faults = passwordFaults('spec.password', asked.password);
      if (faults.length > 0) throw refusals.invalidUser(name, faults);
    }
    const object = await (asked.password === undefined
      ? skip(stored, parts)
      : setPassword(stored, asked.password, caller, { parts, isFirst: true })
    ).catch(refusals.throwWriteFailure(name));
    return { object, role: roles.roleOf(name) };
  };

  function skip({ metadata: { name, uid } }: KubernetesObject, { names }: UserWriteParts): Promise<KubernetesObject> {
    return objects.patch(name, { metadata: { uid, annotations: { [names.uninitialized]: null } } });
  }
}

/** The first password that the patch sets, if any; `undefined` for any other patch. */
function toFirstPassword(operations: readonly unknown[], { names }: UserWriteParts): FirstPassword | undefined {
  const annotation = `/metadata/annotations/${names.uninitialized.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  let removes = 0;
  const passwords: string[] = [];
  for (const operation of operations) {
    if (!isObject(operation)) return undefined;
    const { op, path, value } = operation;
    if (op === 'remove' && path === annotation) removes += 1;
    else if (op === 'replace' && path === '/spec/password' && typeof value === 'string') passwords.push(value);
    else return undefined;
  }
  return removes === 1 && passwords.length <= 1 ? { password: passwords[0] } : undefined;
}
