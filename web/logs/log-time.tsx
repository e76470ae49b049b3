import { exactTime } from '../parts/time.tsx';
import { t } from '../texts/text.ts';

/** The time in the reader's zone, to the millisecond; its title has the zone, and the time as it was written. */
export function LogTime({ time = '' }: { readonly time?: string | undefined }) {
  const parsed = new Date(time);
  if (Number.isNaN(parsed.getTime())) return <span class="soft">{time || t().none}</span>;
  return (
    <time dateTime={time} title={`${exactTime(parsed)} · ${time}`}>
      {shortTime(parsed)}
    </time>
  );
}

function shortTime(time: Date): string {
  const digits = (number: number, count: number): string => String(number).padStart(count, '0');
  const day = `${digits(time.getMonth() + 1, 2)}-${digits(time.getDate(), 2)}`;
  const clock = [time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => digits(part, 2)).join(':');
  return `${day} ${clock}.${digits(time.getMilliseconds(), 3)}`;
}
