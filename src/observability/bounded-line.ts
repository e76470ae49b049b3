/** The bytes that the logger adds to a line: level, time, message. */
const LOGGERS_OWN = 128;
const MAX_LINE = 8 * 1024 - LOGGERS_OWN;

/**
 * The lengths to which texts are cut, tried one after the other. With 64 characters of 6 bytes each, a line of 20 texts has 7.5 KiB; with 32,
 * an audit record of 25 texts and 3 lists of 4 has 7 KiB.
 */
const CUTS = [1_024, 512, 256, 128, 64, 32];

type Line = Readonly<Record<string, unknown>>;

/** Cuts the texts of a line until it is at most 8 KiB as JSON, no matter how many bytes a character needs there. */
export function boundedLine(line: Line): Line {
  let bounded = line;
  for (const length of CUTS) {
    if (Buffer.byteLength(JSON.stringify(bounded)) <= MAX_LINE) return bounded;
    bounded = cutTexts(line, length);
  }
  return bounded;
}

/** Cuts all texts to this length, and lists to an eighth as many members, also in objects within the line. */
function cutTexts(line: Line, length: number): Line {
  const cut = (value: unknown): unknown => {
    if (typeof value === 'string') return value.slice(0, length);
    if (Array.isArray(value)) return value.slice(0, length / 8).map(cut);
    return typeof value === 'object' && value !== null ? cutTexts(value as Line, length) : value;
  };
  return Object.fromEntries(Object.entries(line).map(([name, value]) => [name, cut(value)]));
}
