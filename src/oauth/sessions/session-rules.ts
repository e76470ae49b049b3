import { browserSessionOf } from './session-id.ts';
import { type DeadSession, NOTHING_REMEMBERED, type SessionRecord, type UserSessions } from './sessions.ts';

/** The most sessions of one user with a rotated refresh token. Above it the session that was idle longest ends. */
const MOST_SESSIONS = 256;

/** The most ended sessions that are remembered one by one. They take about 60 kB; a record must fit into a Secret of 1 MiB. */
const MOST_DEAD = 1024;

/** At most ten rotations of a session in a minute are allowed (T-02), because each is a write to the cluster. */
const MOST_ROTATIONS = 10;
const ROTATION_SPAN_MS = 60_000;

/**
 * Whether a token is refused because its session or the browser's has ended, or because it was issued at or before the cut-off
 * (T-17).
 */
export const isDead = (sessions: UserSessions, token: { readonly sid: string; readonly iat: number }): boolean =>
  (sessions.dead.size > 0 && (sessions.dead.has(token.sid) || sessions.dead.has(browserSessionOf(token.sid)))) ||
  isCutOff(sessions, token);

const isCutOff = (sessions: UserSessions, { sid, iat }: { readonly sid: string; readonly iat: number }): boolean =>
  iat <= sessions.cutOff && !isSpared(sessions, sid);

/**
 * Whether a browser session that began at `iat` still counted at `at`, as far as is known now: it had not ended before, and no cut-off
 * affects it. Times are in seconds.
 */
export const wasAlive = (
  sessions: UserSessions,
  session: { readonly sid: string; readonly iat: number },
  at: number,
): boolean => (sessions.dead.get(session.sid)?.endedAt ?? at) >= at && !isCutOff(sessions, session);

/** Whether an end of all sessions does not affect this one: it began in the same browser session as the spared one, or is that one. */
export const isSpared = ({ spared }: { readonly spared?: string }, sid: string): boolean =>
  spared !== undefined && browserSessionOf(spared) === browserSessionOf(sid);

/** A refresh token that has passed every check that does not depend on the session record. */
export interface Presented {
  readonly sid: string;
  readonly iat: number;
  readonly gen: number;
}

export type Verdict =
  | { readonly kind: 'dead' | 'reused' }
  | { readonly kind: 'rotate' }
  | { readonly kind: 'replay'; readonly record: SessionRecord }
  | { readonly kind: 'too_often'; readonly waitMs: number };

/** Decides what happens with a refresh token (the table T-11 to T-17 of docs/contract/tokens.md). */
export function judge(
  sessions: UserSessions,
  presented: Presented,
  at: { readonly nowMs: number; readonly replayWindowMs: number },
): Verdict {
  if (isDead(sessions, presented)) return { kind: 'dead' };
  const record = sessions.live.get(presented.sid);
  // A token newer than the record shows that the record was lost; the signed token is right (T-15).
  if (presented.gen >= (record?.generation ?? 0)) return rotateUnlessTooOften(record, at.nowMs);
  const isPredecessor = record !== undefined && presented.gen === record.generation - 1;
  if (isPredecessor && at.nowMs - record.rotatedAtMs <= at.replayWindowMs) return { kind: 'replay', record };
  return { kind: 'reused' };
}

function rotateUnlessTooOften(record: SessionRecord | undefined, nowMs: number): Verdict {
  const oldest = recentRotations(record, nowMs).at(-MOST_ROTATIONS);
  return oldest === undefined
    ? { kind: 'rotate' }
    : { kind: 'too_often', waitMs: Math.min(ROTATION_SPAN_MS, oldest + ROTATION_SPAN_MS - nowMs) };
}

/**
 * The rotations within a minute before or after now. Later ones do not count: if the clock was set back, a session must not be
 * refused until the clock has caught up.
 */
const recentRotations = (record: SessionRecord | undefined, nowMs: number): readonly number[] =>
  (record?.rotationsMs ?? []).filter((time) => Math.abs(nowMs - time) < ROTATION_SPAN_MS);

/** The record after one session has rotated to a new generation. */
export function withRotation(
  sessions: UserSessions,
  sid: string,
  rotated: Omit<SessionRecord, 'rotationsMs'>,
): UserSessions {
  const rotationsMs = [...recentRotations(sessions.live.get(sid), rotated.rotatedAtMs), rotated.rotatedAtMs];
  return { ...sessions, live: new Map(sessions.live).set(sid, { ...rotated, rotationsMs }) };
}

/** The record after one session has ended; with the session of a browser, all that began in it. */
export function withSessionEnded(sessions: UserSessions, sid: string, ended: DeadSession): UserSessions {
  const live = new Map([...sessions.live].filter(([one]) => one !== sid && browserSessionOf(one) !== sid));
  return { ...sessions, live, dead: new Map(sessions.dead).set(sid, ended) };
}

/** An end of all sessions up to a second. */
export interface CutOff {
  readonly at: number;
  readonly keepUntil: number;
  readonly spared?: string;
  readonly cause?: string;
}

/** The record after a cut-off: every token issued up to this second is refused, except those of the spared session. */
export function withCutOff(sessions: UserSessions, cutOff: CutOff): UserSessions {
  const cause = cutOff.cause ?? sessions.cutOffCause;
  const outlives = ([sid, record]: [string, SessionRecord]): boolean =>
    isSpared(cutOff, sid) || record.issuedAt > cutOff.at;
  return {
    live: new Map([...sessions.live].filter(outlives)),
    dead: sessions.dead,
    cutOff: Math.max(sessions.cutOff, cutOff.at),
    cutOffKeepUntil: Math.max(sessions.cutOffKeepUntil, cutOff.keepUntil),
    ...(cutOff.spared === undefined ? {} : { spared: cutOff.spared }),
    ...(cause === undefined ? {} : { cutOffCause: cause }),
  };
}

/**
 * Drops the entries that no token needs any more, and keeps the record within its limits. An entry beyond a limit is dropped in a
 * way that may end sessions, but never makes an ended one valid again.
 */
export function trimmed(sessions: UserSessions, nowSeconds: number): UserSessions {
  const isWanted = ([, entry]: [string, { readonly keepUntil: number }]): boolean => entry.keepUntil > nowSeconds;
  const live = [...sessions.live].filter(isWanted);
  const dead = [...sessions.dead].filter(isWanted);
  live.sort(([, a], [, b]) => b.rotatedAtMs - a.rotatedAtMs);
  for (const [sid, idle] of live.splice(MOST_SESSIONS))
    dead.push([sid, { endedAt: Math.max(nowSeconds, idle.issuedAt), keepUntil: idle.keepUntil }]);
  const isCutOffWanted = sessions.cutOffKeepUntil > nowSeconds;
  const { live: _, dead: __, ...cutOff } = isCutOffWanted ? sessions : NOTHING_REMEMBERED;
  return mergeOldestDead({ ...cutOff, live: new Map(live), dead: new Map(dead) });
}

/**
 * Replaces the older half of the ended sessions by a cut-off when there are too many. As a side effect, older tokens of the user's
 * other sessions are refused, too.
 */
function mergeOldestDead(sessions: UserSessions): UserSessions {
  if (sessions.dead.size <= MOST_DEAD) return sessions;
  const dead = [...sessions.dead].sort(([, a], [, b]) => b.endedAt - a.endedAt);
  const merged = dead.splice(MOST_DEAD / 2).map(([, entry]) => entry);
  const at = Math.max(...merged.map((entry) => entry.endedAt));
  const keepUntil = Math.max(...merged.map((entry) => entry.keepUntil));
  return withCutOff({ ...sessions, dead: new Map(dead) }, { at, keepUntil });
}

export const isEmpty = (sessions: UserSessions): boolean =>
  sessions.live.size === 0 && sessions.dead.size === 0 && sessions.cutOff === 0;
