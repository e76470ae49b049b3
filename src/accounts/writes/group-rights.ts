import type { Authorizer } from '../../authorization/authorizer.ts';
import type { AccountNames } from '../names.ts';
import type { AccountRefusals } from '../refusals.ts';
import type { Caller } from './caller.ts';

/**
 * A new user gets the rights that the cluster's bindings give to the name, perhaps since an earlier user had it. So the caller
 * needs the right to `impersonate` `users` of this name. Rejects with 403 without it, and whenever the authorizer rejects.
 */
export async function checkBoundName(
  user: string,
  caller: Caller,
  parts: { readonly authorizer: Authorizer; readonly refusals: AccountRefusals },
): Promise<void> {
  const resource = { verb: 'impersonate', group: '', version: 'v1', resource: 'users', name: user };
  const { allowed } = await parts.authorizer.authorize(caller, { resource });
  if (allowed) return;
  const why =
    'the cluster has role bindings for a user of this name: to make one needs the right to impersonate it in the cluster';
  throw parts.refusals.forbiddenChange(user, why, 'metadata.name');
}

/** What chooses the users of the gateway, as far as their labels decide it. */
export interface LabelChoice {
  selectsLabels(labels: Readonly<Record<string, string>>): boolean;
  readonly readsLabels: boolean;
}

/**
 * The labels of a user can open the gateway to the user. So a caller who adds such labels needs the right to `update`
 * `users/gateway` of this name. Taking them away needs no other right. Rejects with 403 without it.
 */
export async function checkGatewayLabels(
  { before, after }: Readonly<Record<'before' | 'after', Readonly<Record<string, string>> | undefined>>,
  user: string,
  caller: Caller,
  parts: {
    readonly authorizer: Authorizer;
    readonly refusals: AccountRefusals;
    readonly names: AccountNames;
    readonly gatewayChoice?: LabelChoice | undefined;
  },
): Promise<void> {
  const { gatewayChoice: choice, names } = parts;
  if (!choice?.readsLabels || !choice.selectsLabels(after ?? {})) return;
  if (before && choice.selectsLabels(before)) return;
  const { group, version } = names;
  const resource = { verb: 'update', group, version, resource: 'users', subresource: 'gateway', name: user };
  const { allowed } = await parts.authorizer.authorize(caller, { resource });
  if (allowed) return;
  const why = 'these labels open the gateway to the user: to set them needs the right to update users/gateway';
  throw parts.refusals.forbiddenChange(user, why, 'metadata.labels');
}

/**
 * Adding a group to a user gives the user the group's rights. So the caller needs the right to `impersonate` `groups` of this name
 * (AC-20). Rejects with a 403 that names the first group without that right, and whenever the authorizer rejects.
 */
export async function checkGroups(
  groups: readonly string[],
  user: string,
  caller: Caller,
  parts: { readonly authorizer: Authorizer; readonly refusals: AccountRefusals },
): Promise<void> {
  for (const name of groups) {
    const resource = { verb: 'impersonate', group: '', version: 'v1', resource: 'groups', name };
    const { allowed } = await parts.authorizer.authorize(caller, { resource });
    if (allowed) continue;
    const why = `you may not give the group "${name}": it needs the right to impersonate it in the cluster`;
    throw parts.refusals.forbiddenChange(user, why, 'spec.groups');
  }
}
