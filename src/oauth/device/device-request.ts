import type { Clock } from '../../runtime/clock.ts';
import { createLastingValues, type SealedValues } from '../authorize/sealed-values.ts';
import type { SigningKeys } from '../keys/signing-keys.ts';
import { DEVICE_GRANT, type OAuthOptions } from '../options.ts';

/** How long a person has, in seconds (`expires_in`). */
export const DEVICE_SECONDS = 600;

/** How long we still recognise a code that has ended, so that the device gets `expired_token`. */
const KNOWN_SECONDS = 3600;

/** What a device asks for, as the person sees it who is asked to allow it. */
export interface DeviceRequest {
  /** The id of the session that begins if the person allows it. It also distinguishes devices whose codes are equal. */
  readonly sid: string;
  readonly clientId: string;
  readonly scope?: string;
  /** The address that asked. */
  readonly address: string;
  /** When it asked, in seconds. */
  readonly since: number;
}

/** A request with the code that the device shows. */
export interface ShownRequest extends DeviceRequest {
  /** Without the dash. */
  readonly userCode: string;
}

/**
 * The two sealed values of a request. Nothing is stored for it (D-01). They differ, because the address with the second one is shown to
 * people and stays in histories and logs: only the first gives tokens.
 */
export interface DeviceValues {
  /** The `device_code`. */
  readonly codes: SealedValues<ShownRequest>;
  /** What `verification_uri_complete` carries. */
  readonly requests: SealedValues<ShownRequest>;
}

export const createDeviceValues = (keys: Pick<SigningKeys, 'digestKey'>, clock: Clock): DeviceValues => ({
  codes: createLastingValues('device code', keys, clock),
  requests: createLastingValues('device request', keys, clock),
});

/** The life of the sealed device code. */
export const CODE_LIFE_SECONDS = DEVICE_SECONDS + KNOWN_SECONDS;

/** When the request ends, in seconds. */
export const endOf = ({ since }: DeviceRequest): number => since + DEVICE_SECONDS;

/** Whether people may allow devices of this client: its `grantTypes` name the grant, and its `grantMethod` is not `deny` (D-06). */
export const mayUseDevices = ({ clients }: Pick<OAuthOptions, 'clients'>, clientId: string): boolean =>
  clients.some(
    ({ name, grantTypes, grantMethod }) =>
      name === clientId && grantTypes.includes(DEVICE_GRANT) && grantMethod !== 'deny',
  );

/** Whether the `grantTypes` of any client name the grant. */
export const hasDeviceGrant = ({ clients }: Pick<OAuthOptions, 'clients'>): boolean =>
  clients.some(({ grantTypes }) => grantTypes.includes(DEVICE_GRANT));
