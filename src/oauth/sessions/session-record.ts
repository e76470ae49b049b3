import { createHash } from 'node:crypto';
import type { DeadSession, SessionRecord, UserSessions } from './sessions.ts';

/**
 * The keys of a record's Secret: the user's name, and a JSON document with everything that is remembered about the user.
 */
const USER = 'user';
const RECORD = 'record.json';

/** The version of the format. It is raised when an older release can no longer read what a newer one writes. */
const FORMAT = 1;

type Data = Readonly<Record<string, Buffer>>;

export interface StoredSessions {
  readonly user: string;
  readonly sessions: UserSessions;
}

/**
 * The name of a user's record: the prefix and 160 bits of a digest, in hex. The user's name itself does not fit: it can be as long
 * as a Secret's name may be.
 */
export const recordName = (prefix: string, user: string): string =>
  `${prefix}${createHash('sha256').update(user).digest('hex').slice(0, 40)}`;

export function encodeSessions(user: string, sessions: UserSessions): Data {
  const { live, dead, ...rest } = sessions;
  const document = { format: FORMAT, ...rest, live: Object.fromEntries(live), dead: Object.fromEntries(dead) };
  return { [USER]: Buffer.from(user), [RECORD]: Buffer.from(JSON.stringify(document)) };
}

/** Throws if the data was not made by `encodeSessions`; the message quotes nothing of it. */
export function decodeSessions(data: Data): StoredSessions {
  const user = data[USER]?.toString() ?? '';
  const document = parse(data[RECORD]);
  const { format, live, dead, cutOff, cutOffKeepUntil, spared, cutOffCause } = document;
  const texts = [spared, cutOffCause].every((text) => text === undefined || typeof text === 'string');
  if (user === '' || format !== FORMAT || !isTime(cutOff) || !isTime(cutOffKeepUntil) || !texts)
    throw new Error('it is not a session record in a known format');
  const sessions = {
    live: new Map(entriesOf(live, isSessionRecord)),
    dead: new Map(entriesOf(dead, isDeadSession)),
    cutOff,
    cutOffKeepUntil,
    ...(spared === undefined ? {} : { spared: spared as string }),
    ...(cutOffCause === undefined ? {} : { cutOffCause: cutOffCause as string }),
  };
  return { user, sessions };
}

/** Parses JSON. The parser's message is not passed on, because it may quote the text. */
function parse(bytes: Buffer | undefined): Readonly<Record<string, unknown>> {
  try {
    return asObject(JSON.parse(bytes?.toString() ?? ''));
  } catch {
    throw new Error('it is not a JSON document');
  }
}

function entriesOf<T>(value: unknown, is: (entry: unknown) => entry is T): [string, T][] {
  return Object.entries(asObject(value)).map(([sid, entry]) => {
    if (!is(entry)) throw new Error('one of its entries is not understood');
    return [sid, entry];
  });
}

function isSessionRecord(value: unknown): value is SessionRecord {
  const { generation, rotatedAtMs, issuedAt, kid, accessJti, refreshJti, rotationsMs, keepUntil } = asObject(value);
  return (
    [generation, rotatedAtMs, issuedAt, keepUntil].every(isTime) &&
    [kid, accessJti, refreshJti].every((text) => typeof text === 'string') &&
    Array.isArray(rotationsMs) &&
    rotationsMs.every(isTime)
  );
}

function isDeadSession(value: unknown): value is DeadSession {
  const { endedAt, keepUntil } = asObject(value);
  return isTime(endedAt) && isTime(keepUntil);
}

const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0;

const asObject = (value: unknown): Readonly<Record<string, unknown>> => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('it is not an object');
  return value as Record<string, unknown>;
};
