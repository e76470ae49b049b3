import { type DestinationStream, destination as standardOutput } from 'pino';

type Line = Record<string, unknown>;

/** One log object as a line for people: time, level, message, then the other members as `name=value`. */
function prettyLine(line: Line): string {
  const { time, level, msg, ...rest } = line;
  const clock = String(time).slice(11, 23);
  const members = Object.entries(rest).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return [clock, String(level).toUpperCase().padEnd(5), String(msg), ...members].join(' ');
}

/** Wraps a destination so that JSON lines reach it in a form for people; anything else passes through unchanged. */
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
