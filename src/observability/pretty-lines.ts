import { type DestinationStream, destination as standardOutput } from 'pino';
import { shownText } from './shown-text.ts';

type Line = Record<string, unknown>;

/** Words that are clear without quotes: no blank, no quote, no control character. */
const PLAIN = /^[\x21\x23-\x7e]+$/;

/** JSON escapes line breaks and most control characters that terminals obey. `shownText` escapes the rest. */
const quoted = (value: unknown): string => shownText(JSON.stringify(value));

const shown = (value: unknown): string => (typeof value === 'string' && PLAIN.test(value) ? value : quoted(value));

/** One log object as a line for people: time, level, message, then the other members as `name=value`. */
function prettyLine({ time, level, msg, ...rest }: Line): string {
  const clock = String(time).slice(11, 23);
  const members = Object.entries(rest).map(([name, value]) => `${name}=${shown(value)}`);
  const text = quoted(String(msg)).slice(1, -1).replaceAll('\\"', '"');
  return [clock, String(level).toUpperCase().padEnd(5), text, ...members].join(' ');
}

/** Wraps a destination so that JSON lines are written in a form for people; anything else passes through unchanged. */
export function prettyLines(to: DestinationStream = standardOutput({ sync: true })): DestinationStream {
  return {
    write(text) {
      try {
        to.write(`${prettyLine(JSON.parse(text) as Line)}\n`);
      } catch {
        to.write(text);
      }
    },
  };
}
