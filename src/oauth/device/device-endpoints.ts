import type { DeviceEndpoints } from '../authorization-server.ts';
import { createLastingValues } from '../authorize/sealed-values.ts';
import type { SigningKeys } from '../keys/signing-keys.ts';
import type { OAuthOptions } from '../options.ts';
import { readsOf } from '../sessions/session-reads.ts';
import type { SessionStore } from '../sessions/sessions.ts';
import { createDeviceAuthorization, type DeviceAuthorizationParts } from './device-authorization.ts';
import type { PendingDevice } from './device-page.ts';
import { createDevicePages, type DevicePageParts } from './device-pages.ts';
import { createDeviceValues } from './device-request.ts';

export interface DeviceParts
  extends Omit<DeviceAuthorizationParts, 'values' | 'sessions'>,
    Omit<DevicePageParts, 'values' | 'pages'> {
  readonly keys: Pick<SigningKeys, 'digestKey'>;
  readonly sessions: SessionStore;
}

/** What devices and the people who allow them reach. */
export interface BuiltDeviceEndpoints extends DeviceEndpoints {
  readonly checkHead: ReturnType<typeof createDeviceAuthorization>['checkHead'];
}

/** The endpoint for devices can write nothing; of the pages, only the two forms do. */
export function createDeviceEndpoints(
  options: OAuthOptions,
  { keys, sessions, ...parts }: DeviceParts,
): BuiltDeviceEndpoints {
  const values = createDeviceValues(keys, parts.clock);
  const pages = createLastingValues<PendingDevice>('device page', keys, parts.clock);
  const authorization = createDeviceAuthorization(options, { ...parts, values, sessions: readsOf(sessions) });
  return {
    checkHead: authorization.checkHead,
    authorizeDevice: authorization.answer,
    ...createDevicePages(options, { ...parts, values, pages }),
  };
}
