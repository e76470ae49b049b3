/** What a device shows, and what it polls with (RFC 8628 3.2). */
export interface DeviceStart {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly address: string;
  /** The address with the code in it. */
  readonly wholeAddress?: string;
  readonly lifetimeSeconds: number;
  readonly intervalSeconds: number;
}

/** The default of RFC 8628 3.2. */
const DEFAULT_INTERVAL_SECONDS = 5;

/** Nobody types a code for longer. Other processes wait for the session meanwhile. */
const LONGEST_LIFETIME_SECONDS = 600;

/** Reads a device authorization response; `undefined` when it is something else. What it shows fits on any terminal. */
export function toDeviceStart(body: Readonly<Record<string, unknown>>): DeviceStart | undefined {
  const { device_code: deviceCode, user_code: userCode, verification_uri: address } = body;
  const { verification_uri_complete: whole, expires_in: lifetime, interval = DEFAULT_INTERVAL_SECONDS } = body;
  const isWhole = isVisible(deviceCode, 4096) && isVisible(userCode, 64) && isAddress(address);
  if (!isWhole || !isDuration(lifetime) || !isDuration(interval)) return undefined;
  return {
    deviceCode,
    userCode,
    address,
    ...(isAddress(whole) ? { wholeAddress: whole } : {}),
    lifetimeSeconds: Math.min(lifetime, LONGEST_LIFETIME_SECONDS),
    intervalSeconds: interval,
  };
}

/** Printable ASCII without blanks. */
const isVisible = (value: unknown, longest: number): value is string =>
  typeof value === 'string' && /^[\x21-\x7e]+$/.test(value) && value.length <= longest;

const isAddress = (value: unknown): value is string => isVisible(value, 2048) && /^https?:\/\//.test(value);

const isDuration = (value: unknown): value is number => typeof value === 'number' && value > 0 && value <= 86_400;
