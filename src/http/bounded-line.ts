/** What the logger adds to a line: level, time, message. */
const LOGGERS_OWN = 128;
const MAX_LINE = 8 * 1024 - LOGGERS_OWN;

/** Lengths that texts are cut to, one after the other. At 64 characters of 6 bytes each a line of 20 texts has 7.5 KiB. */
const CUTS = [1_024, 512, 256, 128, 64];

/** The line with its texts cut until it is at most 8 KiB as JSON, however many bytes a character takes there. */
export function boundedLine(line: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  let bounded = line;
  for (const length of CUTS) {
    if (Buffer.byteLength(JSON.stringify(bounded)) <= MAX_LINE) return bounded;
    bounded = cutTexts(line, length);
  }
  return bounded;
}

/** A list keeps an eighth as many members as a text keeps characters. */
function cutTexts(line: Readonly<Record<string, unknown>>, length: number): Readonly<Record<string, unknown>> {
  const cut = (value: unknown): unknown => {
    if (typeof value === 'string') return value.slice(0, length);
    return Array.isArray(value) ? value.slice(0, length / 8) : value;
  };
  return Object.fromEntries(Object.entries(line).map(([name, value]) => [name, cut(value)]));
}
