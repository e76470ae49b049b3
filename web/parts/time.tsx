import { signal } from '@preact/signals';
import { t } from '../texts/text.ts';

const STEP_MS = 10_000;
const now = signal(Date.now());
setInterval(() => {
  now.value = Date.now();
}, STEP_MS);

const UNITS = [
  ['year', 31_536_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

const twoDigits = (amount: number): string => String(amount).padStart(2, '0');

/**
 * The exact time in the reader's zone, with the distance of the zone from UTC: `2026-11-27 09:05:00 +01:00`. Every reader knows this form,
 * and unlike `Intl.DateTimeFormat` it costs nothing when a screen of rows is drawn.
 */
export function exactTime(time: Date): string {
  const day = [time.getFullYear(), twoDigits(time.getMonth() + 1), twoDigits(time.getDate())].join('-');
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()].map(twoDigits).join(':');
  const east = -time.getTimezoneOffset();
  const distance = Math.abs(east);
  const zone = `${east < 0 ? '-' : '+'}${twoDigits(Math.floor(distance / 60))}:${twoDigits(distance % 60)}`;
  return `${day} ${clock} ${zone}`;
}

/** How long ago it was, in one unit, as `3 d`. */
export function ageText(seconds: number): string {
  const [unit, size] = UNITS.find(([, size]) => seconds >= size) ?? ['second', 1];
  return t().time.ages[unit](Math.max(0, Math.floor(seconds / size)));
}

/** How long ago a time of the cluster (RFC 3339) was, with the exact time as its title. */
export function Age({ since }: { readonly since: string | undefined }) {
  const time = new Date(since ?? '');
  if (Number.isNaN(time.getTime())) return <span class="soft">{t().none}</span>;
  return (
    <time dateTime={since} title={exactTime(time)}>
      {ageText((now.value - time.getTime()) / 1_000)}
    </time>
  );
}

/** A time of the cluster (RFC 3339) as it is in the reader's zone, for times to come and for those that must be exact. */
export function Moment({ at }: { readonly at: string | undefined }) {
  const time = new Date(at ?? '');
  if (Number.isNaN(time.getTime())) return <span class="soft">{t().none}</span>;
  return (
    <time dateTime={at} title={at}>
      {exactTime(time)}
    </time>
  );
}
