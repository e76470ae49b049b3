/** Milliseconds of each unit of a Go duration (Go `time.ParseDuration`). */
const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

const TERM = /(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/gy;

/**
 * Reads a Go duration such as `2h`, `1h30m` or `250ms` into milliseconds; `undefined` when the text is none. Only `0`
 * needs no unit. Negative durations are refused, because no setting has a use for them.
 */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  let total = 0;
  let end = 0;
  for (const [term, amount, unit] of text.matchAll(TERM)) {
    total += Number(amount) * (UNIT_MS[unit ?? ''] ?? 0);
    end += term.length;
  }
  return text !== '' && end === text.length ? total : undefined;
}
