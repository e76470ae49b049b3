import { hasReasonsWithin } from '../../config/refused-settings.ts';
import { durationText, oldDurationMs } from './go-duration.ts';
import { isSettings } from './old-config.ts';

/** A setting of ours that has the meaning of an old one. */
interface TakenSetting {
  /** The name of ours. */
  readonly to: string;
  /** Reads the old value; `undefined` if it has not the kind of value that 3.4 expects there. */
  read(value: unknown): string | number | boolean | undefined;
}

const WORDS: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  on: true,
  false: false,
  no: false,
  off: false,
};

const toSwitch = (value: unknown): boolean | undefined =>
  typeof value === 'boolean' ? value : typeof value === 'string' ? WORDS[value.toLowerCase()] : undefined;

function toCount(value: unknown): number | undefined {
  const count = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof count === 'number' && Number.isFinite(count) ? count : undefined;
}

const toText = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;

function toDuration(value: unknown): string | undefined {
  const ms = oldDurationMs(value);
  return ms === undefined ? undefined : durationText(ms);
}

const authentication = (name: string, read: TakenSetting['read']): [string, TakenSetting] => [
  `authentication.${name.toLowerCase()}`,
  { to: `authentication.${name}`, read },
];

const token = (name: string, read: TakenSetting['read']): [string, TakenSetting][] => {
  const taken = { to: `authentication.oauthOptions.${name}`, read };
  // 4.0 has them in another section.
  return [
    [`authentication.oauthoptions.${name.toLowerCase()}`, taken],
    [`authentication.issuer.${name.toLowerCase()}`, taken],
  ];
};

const store = (section: string): [string, TakenSetting][] =>
  ['host', 'indexPrefix', 'version'].map((name) => [
    `${section}.${name.toLowerCase()}`,
    { to: `${section}.${name}`, read: toText },
  ]);

/** By the names of 3.4 in lower case: 3.4 reads names without regard to case. */
const TAKEN: ReadonlyMap<string, TakenSetting> = new Map([
  authentication('multipleLogin', toSwitch),
  authentication('authenticateRateLimiterMaxTries', toCount),
  authentication('authenticateRateLimiterDuration', toDuration),
  authentication('maximumClockSkew', toDuration),
  authentication('loginHistoryRetentionPeriod', toDuration),
  authentication('loginHistoryMaximumEntries', toCount),
  ['authentication.issuer.maximumclockskew', { to: 'authentication.maximumClockSkew', read: toDuration }],
  ['authentication.issuer.url', { to: 'authentication.oauthOptions.issuer', read: toText }],
  ...token('issuer', toText),
  ...token('accessTokenMaxAge', toDuration),
  ...token('accessTokenInactivityTimeout', toDuration),
  ['authorization.mode', { to: 'authorization.mode', read: toText }],
  ['kubernetes.kubeconfig', { to: 'kubernetes.kubeconfig', read: toText }],
  ...['logging', 'events', 'auditing'].flatMap(store),
  ['logging.exportlogslimit', { to: 'logging.exportLogsLimit', read: toCount }],
  ['monitoring.endpoint', { to: 'monitoring.prometheus', read: toText }],
]);

/** The setting of ours for an old name with dots, in any case. */
export const takenFor = (oldName: string): TakenSetting | undefined => TAKEN.get(oldName.toLowerCase());

/** Lists and maps that are one setting, whatever they hold. */
const WHOLE: ReadonlySet<string> = new Set(['authentication.oauthoptions.clients']);

/** One old setting: its name with dots, as it was written, and its value. */
export interface OldSetting {
  readonly name: string;
  readonly value: unknown;
}

/**
 * The settings one by one. A section of which nothing is taken over is one setting. Values that say nothing (`null`) are left out, because
 * 3.4 does so, too.
 */
export function oldSettings(content: unknown, within = ''): OldSetting[] {
  if (!isSettings(content)) return [];
  return Object.entries(content).flatMap(([key, value]) => {
    const name = within === '' ? key : `${within}.${key}`;
    if (value === null || value === undefined) return [];
    return isSettings(value) && isSection(name) ? oldSettings(value, name) : [{ name, value }];
  });
}

/** Whether any setting below this name is taken over, or has a reason of its own. */
export function isSection(name: string): boolean {
  const below = `${name.toLowerCase()}.`;
  return hasReasonsWithin(name) || [...TAKEN.keys(), ...WHOLE].some((taken) => taken.startsWith(below));
}
