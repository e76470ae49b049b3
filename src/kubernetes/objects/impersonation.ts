import { fitsHeader, headerOctets } from '../../runtime/text/header-text.ts';
import type { ImpersonationHeaders } from '../access/cluster-access.ts';
import type { Impersonated } from './cluster-objects.ts';

/** Members of this group may do everything: the API server asks no authorizer about them. We sign in nobody as a member. */
const UNLIMITED = 'system:masters';

/**
 * The headers by which the API server treats a request as this user's. Each group has a header of its own. That needs
 * HTTP/1.1: over HTTP/2, undici would join them to the name of one group. Throws if a header cannot carry a name, and for
 * a member of `system:masters`, for whom the cluster would check no right.
 */
export function impersonationOf({ name, groups }: Impersonated): ImpersonationHeaders {
  for (const text of [name, ...groups])
    if (!fitsHeader(text)) throw new Error('no header can carry the name of an impersonated user or group');
  if (groups.includes(UNLIMITED)) throw new Error(`nobody is impersonated as a member of ${UNLIMITED}`);
  const sent = groups.map(headerOctets);
  return { 'impersonate-user': headerOctets(name), ...(sent.length === 0 ? {} : { 'impersonate-group': sent }) };
}
