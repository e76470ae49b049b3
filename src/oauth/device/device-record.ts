import { createHmac, timingSafeEqual } from 'node:crypto';
import { asObject } from '../../runtime/text/json-value.ts';
import type { StoredSecret } from '../../secret-store.ts';
import type { DeviceRequest } from './device-request.ts';

/** What a person has decided about one device. */
export interface DeviceDecision {
  readonly isAllowed: boolean;
  readonly user: string;
  /** A digest of the user's password and state. With another one, the decision is worth nothing. */
  readonly standing: string;
  /** The session of the person's browser. */
  readonly browserSid: string;
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
const MAC = 'mac';

/** The version of the format. It is raised when an older release can no longer read what a newer one writes. */
const FORMAT = 1;

/** Where a record is, and the key that all replicas have. */
export interface RecordPlace {
  readonly name: string;
  readonly key: Uint8Array;
}

/**
 * A decision gives tokens, so a record proves that it was written by one of us: its digest is keyed, and covers its name, so that nobody
 * can copy the decision about another code either.
 */
export function encodeDeviceRecord(record: DeviceRecord, place: RecordPlace): StoredSecret['data'] {
  const bytes = Buffer.from(JSON.stringify({ format: FORMAT, ...record }));
  return { [RECORD]: bytes, [MAC]: macOf(bytes, place) };
}

const macOf = (bytes: Buffer, { name, key }: RecordPlace): Buffer =>
  createHmac('sha256', key).update(`${name}\n`).update(bytes).digest();

/** `undefined` if the data was not made by `encodeDeviceRecord` for this place. */
export function decodeDeviceRecord(data: StoredSecret['data'], place: RecordPlace): DeviceRecord | undefined {
  const { [RECORD]: bytes = Buffer.alloc(0), [MAC]: mac = Buffer.alloc(0) } = data;
  const wanted = macOf(bytes, place);
  if (mac.length !== wanted.length || !timingSafeEqual(mac, wanted)) return undefined;
  const { format, user, endsAt, device, decision } = parse(bytes);
  if (format !== FORMAT || typeof user !== 'string' || !isTime(endsAt)) return undefined;
  if (device !== undefined && !isDevice(device)) return undefined;
  if (decision !== undefined && !isDecision(decision)) return undefined;
  return { user, endsAt, ...(device ? { device } : {}), ...(decision ? { decision } : {}) };
}

function parse(bytes: Buffer): Readonly<Record<string, unknown>> {
  try {
    return asObject(JSON.parse(bytes.toString()));
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
  const { isAllowed, user, standing, browserSid, authTime, at } = asObject(value);
  const texts = [user, standing, browserSid];
  return (
    typeof isAllowed === 'boolean' && texts.every((text) => typeof text === 'string') && [authTime, at].every(isTime)
  );
}

const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0;
