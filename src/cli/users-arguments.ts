/** An operator's request about users. A password is never an argument, because other processes can read arguments. */
export type UsersRequest =
  | { readonly action: 'list' }
  | {
      readonly action: 'create';
      readonly name: string;
      readonly email: string;
      readonly groups: readonly string[];
      readonly role: string | undefined;
    }
  | { readonly action: 'disable' | 'enable' | 'unlock' | 'set-password'; readonly name: string }
  | { readonly action: 'import'; readonly file: string; readonly isApplied: boolean };

/** The options of `users`, as `parseArgs` reads them. */
export interface UsersOptions {
  readonly email?: string | undefined;
  readonly group?: readonly string[] | undefined;
  readonly role?: string | undefined;
  readonly apply?: boolean | undefined;
}

const OF_ONE: ReadonlySet<string> = new Set(['disable', 'enable', 'unlock', 'set-password']);

/** Parses the arguments after `users`. */
export function parseUsersRequest(
  [action, ...more]: readonly string[],
  options: UsersOptions,
): UsersRequest | { readonly fault: string } {
  const fault = optionFaultOf(action, options);
  if (fault) return { fault };
  const [what, ...rest] = more;
  if (action === 'list' && what === undefined) return { action };
  if (action === undefined || action === 'list' || !(action === 'create' || action === 'import' || OF_ONE.has(action)))
    return { fault: 'users is followed by list, create, disable, enable, unlock, set-password or import' };
  if (what === undefined || rest.length > 0)
    return { fault: `users ${action} needs ${action === 'import' ? 'one users file' : 'the name of one user'}` };
  if (action === 'import') return { action, file: what, isApplied: options.apply ?? false };
  if (action === 'create')
    return { action, name: what, email: options.email ?? '', groups: options.group ?? [], role: options.role };
  return { action: action as 'disable', name: what };
}

/** The complaint about an option that the action does not have; `undefined` when there is none. */
function optionFaultOf(action: string | undefined, { email, group, role, apply }: UsersOptions): string | undefined {
  const ofCreate = email !== undefined || group !== undefined || role !== undefined;
  if (ofCreate && action !== 'create') return '--email, --group and --role go with users create only';
  return apply && action !== 'import' ? '--apply goes with users import only' : undefined;
}
