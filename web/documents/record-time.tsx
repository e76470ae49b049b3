import { exactTime } from '../parts/time.tsx';
import { t } from '../texts/text.ts';

interface RecordTimeProps {
  readonly time?: string | undefined;
  /** Whether the second says enough. By default it is the millisecond, as lines of logs need it. */
  readonly isToSecond?: boolean;
}

/** The time in the reader's zone; its title has the zone, and the time as it was written. */
export function RecordTime({ time = '', isToSecond = false }: RecordTimeProps) {
  const parsed = new Date(time);
  if (Number.isNaN(parsed.getTime())) return <span class="soft">{time || t().none}</span>;
  return (
    <time dateTime={time} title={`${exactTime(parsed)} · ${time}`}>
      {shortTime(parsed)}
      {!isToSecond && `.${digits(parsed.getMilliseconds(), 3)}`}
    </time>
  );
}

const digits = (number: number, count: number): string => String(number).padStart(count, '0');

function shortTime(time: Date): string {
  const day = `${digits(time.getMonth() + 1, 2)}-${digits(time.getDate(), 2)}`;
  return `${day} ${[time.getHours(), time.getMinutes(), time.getSeconds()].map((part) => digits(part, 2)).join(':')}`;
}
