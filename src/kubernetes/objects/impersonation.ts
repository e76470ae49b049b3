import type { ImpersonationHeaders } from '../access/cluster-access.ts';
import type { Impersonated } from './cluster-objects.ts';

/** Headers carry nothing else unchanged: blanks at the ends are cut, and what is above ASCII has no agreed encoding. */
export const VISIBLE_ASCII = /^[!-~]+$/;

/** The group that every right is granted to without being asked. Nobody whom we sign in is in it. */
const UNLIMITED = 'system:masters';

/**
 * The headers by which the API server treats a request as this user's. Each group is a header of its own, as our
 * connections speak HTTP/1.1: over HTTP/2, undici joins them to the name of one group. Throws where a
 * name cannot be sent as it is, and for a member of `system:masters`: the cluster would ask no further.
 */
export function impersonationOf({ name, groups }: Impersonated): ImpersonationHeaders {
  for (const text of [name, ...groups])
    if (!VISIBLE_ASCII.test(text)) throw new Error('the name of an impersonated user or group is not visible ASCII');
  if (groups.includes(UNLIMITED)) throw new Error(`nobody is impersonated as a member of ${UNLIMITED}`);
  return { 'impersonate-user': name, ...(groups.length === 0 ? {} : { 'impersonate-group': groups }) };
}
