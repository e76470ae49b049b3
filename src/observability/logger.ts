import { type DestinationStream, type Logger as PinoLogger, pino, destination as standardOutput, symbols } from 'pino';

export type Logger = PinoLogger;
type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** The format `json` is for machines, with one object a line; `pretty` is for people. */
export interface LogOptions {
  readonly level: LogLevel;
  readonly format: 'json' | 'pretty';
}

/** Members that never reach a log, in a logged object or in an object directly within it. The whole value is replaced. */
const SECRETS: readonly string[] = [
  'authorization',
  'cookie',
  'password',
  'client_secret',
  'encrypt',
  'access_token',
  'refresh_token',
  'token',
];

/** These names are for records that the logger does not write. */
export const SECRET_MEMBERS: ReadonlySet<string> = new Set(SECRETS);

/** What stands in the place of a secret. */
export const REDACTED = '[redacted]';

const censoring = (paths: readonly string[]) => ({ paths: [...paths], censor: REDACTED });

/** Builds the one logger of the process. Lines go to `destination`, else to standard output. */
export function createLogger(options: LogOptions, destination?: DestinationStream): Logger {
  const settings = {
    level: options.level,
    timestamp: createTimestamp(),
    formatters: { level: (label: string) => ({ level: label }), bindings: () => ({}) },
    redact: censoring(SECRETS.flatMap((name) => [name, `*.${name}`])),
  };
  if (options.format === 'pretty') return pino(settings, prettyLines(destination));
  return destination ? pino(settings, destination) : pino(settings);
}

const AUDIT = { logger: 'audit' };

/** The JSON text that every line of the audit trail has and no other line: in any other text its quotes are escaped. */
export const AUDIT_MARK = JSON.stringify(AUDIT).slice(1, -1);

/**
 * The audit trail: lines with `"logger":"audit"`, at a level of their own, to the same output. No other line has this member.
 * `name` would not do: it is the name of an object in the access log. The lines have no objects within them, so redaction does not
 * search for any. The search would take 22 µs, nine times as long as the rest of a line.
 */
export const createAuditLogger = (logger: Logger, level: LogLevel): Logger =>
  logger.child(AUDIT, { level, redact: censoring(SECRETS) });

/** The text with which every record of the trail in Kubernetes' form begins and no other line: those of the logger begin with their level. */
export const RECORD_MARK = '{"AuditID":';

/** The output of the log, for records that are not lines of the logger. */
export interface RecordOutput {
  isEnabled(level: 'info' | 'warn'): boolean;
  /** `line` ends with a line break. */
  write(line: string): void;
}

/** Writes records to the same output as the logger's lines. `level`: the lowest that is written. */
export function createRecordOutput(logger: Logger, level: LogLevel): RecordOutput {
  const leveled = logger.child({}, { level });
  const { [symbols.streamSym]: output } = logger as unknown as { readonly [symbols.streamSym]: DestinationStream };
  return { isEnabled: (one) => leveled.isLevelEnabled(one), write: (line) => output.write(line) };
}

/** The `time` member in RFC 3339. A busy server writes several lines in a millisecond; they share the text. */
function createTimestamp(): () => string {
  let madeAt = Number.NaN;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== madeAt) {
      madeAt = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}

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
function prettyLines(to: DestinationStream = standardOutput({ sync: true })): DestinationStream {
  return {
    write(text) {
      if (text.startsWith(RECORD_MARK)) return void to.write(text);
      try {
        to.write(`${prettyLine(JSON.parse(text) as Line)}\n`);
      } catch {
        to.write(text);
      }
    },
  };
}

/** Visible ASCII and blanks: almost every text. */
const VISIBLE = /^[ -~]*$/;

/**
 * Characters that have an effect where a text is shown: control characters, C1 ones included (a terminal obeys them),
 * line and paragraph separators, and marks that change the direction or are invisible.
 */
const UNRULY = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * The text with every such character written as a JavaScript escape, so that it stays on its line and has no effect.
 */
export const shownText = (text: string): string => (VISIBLE.test(text) ? text : text.replace(UNRULY, escapes));

const escapes = (character: string): string =>
  character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
