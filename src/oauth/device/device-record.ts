import { asObject } from '../../runtime/text/json-value.ts';
import type { StoredSecret } from '../../secret-store.ts';
import type { DeviceRequest } from './device-request.ts';

/** What a person has decided about one device. */
export interface DeviceDecision {
  readonly isAllowed: boolean;
  readonly user: string;
  /** A digest of the user's password and state. With another one, the decision is worth nothing. */
  readonly standing: string;
  /** When the person entered the password, in seconds. */
  readonly authTime: number;
  /** When it was decided, in seconds. */
  readonly at: number;
}

/**
 * What is written about a code, once a signed-in person has typed it or decided (decision 39). First it is claimed; then the first
 * device that polls with this code is attached; then it is decided.
 */
export interface DeviceRecord {
  /** Who typed the code, or decided. */
  readonly user: string;
  /** After this second it counts as absent. */
  readonly endsAt: number;
  /** The device that the decision is about. Another device with an equal code gets nothing. */
  readonly device?: DeviceRequest;
  readonly decision?: DeviceDecision;
}

const RECORD = 'record.json';

/** The version of the format. It is raised when an older release can no longer read what a newer one writes. */
const FORMAT = 1;

export const encodeDeviceRecord = (record: DeviceRecord): StoredSecret['data'] => ({
  [RECORD]: Buffer.from(JSON.stringify({ format: FORMAT, ...record })),
});

/** `undefined` if the data was not made by `encodeDeviceRecord`. */
export function decodeDeviceRecord(data: StoredSecret['data']): DeviceRecord | undefined {
  const { format, user, endsAt, device, decision } = parse(data[RECORD]);
  if (format !== FORMAT || typeof user !== 'string' || !isTime(endsAt)) return undefined;
  if (device !== undefined && !isDevice(device)) return undefined;
  if (decision !== undefined && !isDecision(decision)) return undefined;
  return { user, endsAt, ...(device ? { device } : {}), ...(decision ? { decision } : {}) };
}

function parse(bytes: Buffer | undefined): Readonly<Record<string, unknown>> {
  try {
    return asObject(JSON.parse(bytes?.toString() ?? ''));
  } catch {
    return {};
  }
}

function isDevice(value: unknown): value is DeviceRequest {
  const { sid, clientId, scope, address, since } = asObject(value);
  const texts = [sid, clientId, scope ?? '', address];
  return texts.every((text) => typeof text === 'string') && isTime(since);
}

function isDecision(value: unknown): value is DeviceDecision {
  const { isAllowed, user, standing, authTime, at } = asObject(value);
  const texts = [user, standing];
  return (
    typeof isAllowed === 'boolean' && texts.every((text) => typeof text === 'string') && [authTime, at].every(isTime)
  );
}

const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0;
