import type { RefusedImpersonation } from '../kubernetes/status.ts';
import { StatusError, serviceUnavailable } from '../status-error.ts';
import type { AccessState } from './access.ts';

/** Answers that the gateway itself gives. None contains an address, an account, or the message of a library. */

export const reservedIdentity = (): StatusError =>
  new StatusError('Forbidden', {
    message:
      'this user, or one of its groups, is named as those of the cluster itself: it cannot be passed on to the cluster',
  });

export const reservedTarget = (): StatusError =>
  new StatusError('Forbidden', {
    message:
      'service accounts, users and groups of the cluster itself cannot be impersonated through this server: ask the cluster with a kubeconfig of its own',
  });

export const impersonationRefused = (): StatusError =>
  new StatusError('Forbidden', {
    message:
      'Impersonate headers are not accepted here: calls are made as the user who signed in (gateway.impersonation)',
  });

export const proxyRefused = (): StatusError =>
  new StatusError('Forbidden', {
    message:
      'connections through the cluster to nodes, pods, services and aggregated servers are not served here (gateway.allowProxySubresources)',
  });

export const foreignOrigin = (): StatusError =>
  new StatusError('Forbidden', { message: 'the Origin of this request may not connect here' });

/**
 * The cluster does not let this server impersonate the caller. `missing` is the caller's own name, or one of the caller's groups;
 * it is empty when something else was refused.
 */
export function mayNotImpersonate(missing: RefusedImpersonation, cause: unknown): StatusError {
  return new StatusError('Forbidden', { message: whatIsMissing(missing) }, cause);
}

/** The user may not use the gateway, or the cluster does not allow it yet. */
export function noAccess(state: Exclude<AccessState, 'granted'>, name: string): StatusError {
  if (state === 'soon')
    return serviceUnavailable(`the cluster is being told that "${name}" may call it through this server`, 1);
  const why = state === 'stuck' ? 'the cluster cannot be told so at the moment' : 'this server is not set up for it';
  const message = `the user "${name}" may not call the cluster through this server: ${why}; ask its operator (gateway.users, gateway.accounts)`;
  return new StatusError('Forbidden', { message });
}

function whatIsMissing({ resource, name }: RefusedImpersonation): string {
  const way = 'call the cluster through this server: ask the operator of this server to name it';
  if (resource === 'users') return `the user "${name}" may not ${way} (gateway.users)`;
  if (resource === 'groups') return `members of the group "${name}" may not ${way} (gateway.groups)`;
  return 'you may not do this in the cluster through this server: ask the operator of this server';
}

/** No header can carry the group's name. The call is refused, because without the group it would have other rights. */
export const unsendableGroup = (group: string): StatusError =>
  new StatusError('Forbidden', {
    message: `members of the group "${group}" may not call the cluster through this server: no header can carry its name`,
  });

export const rightEnded = (): StatusError => new StatusError('Forbidden', { message: 'the right to this has ended' });

export const badGateway = (cause: unknown): StatusError =>
  new StatusError('BadGateway', { message: "the cluster's API server could not be reached" }, cause);

export const away = (cause?: unknown): StatusError =>
  serviceUnavailable('the cluster cannot be asked at the moment, please try again', 1, cause);

export const timedOut = (cause: unknown): StatusError =>
  new StatusError('Timeout', { message: "the cluster's API server did not answer in time" }, cause);
