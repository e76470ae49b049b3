import { parseBooleanWord } from '../../runtime/text/boolean-word.ts';
import { invalid, type ParameterReader, quoted, readParameters } from '../../runtime/text/parameters.ts';

/** What a caller wants of the logs of a workload. */
export interface LogRequest {
  /** The containers of this name only. Absent: every container. */
  readonly container?: string;
  /** How many lines of each container that already runs come first. */
  readonly tailLines: number;
  /** Absent: lines of any age. */
  readonly sinceSeconds?: number;
  /** Whether the stream goes on with new lines, new pods and new containers. */
  readonly follow: boolean;
}

const DEFAULT_TAIL = 100;
/** The most lines of one container from before the request. With 100 containers that is half a million lines: a page shows no more. */
const MOST_TAIL = 5_000;
/** 30 days: no kubelet keeps the files of a container for longer (by default 10 MiB in five files). */
const MOST_SECONDS = 30 * 86_400;

/** The name of a container is a DNS label (RFC 1123). */
const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

type Setting = Partial<LogRequest>;

const numberBetween =
  (member: 'tailLines' | 'sinceSeconds', least: number, most: number): ParameterReader<Setting> =>
  (text, name) => {
    const number = /^[0-9]{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return { [member]: number };
    return invalid(name, `${quoted(text)} is not a whole number from ${least} to ${most}`);
  };

const READERS: ReadonlyMap<string, ParameterReader<Setting>> = new Map<string, ParameterReader<Setting>>([
  [
    'container',
    (text, name) => (LABEL.test(text) ? { container: text } : invalid(name, `${quoted(text)} names no container`)),
  ],
  ['tailLines', numberBetween('tailLines', 0, MOST_TAIL)],
  ['sinceSeconds', numberBetween('sinceSeconds', 1, MOST_SECONDS)],
  [
    'follow',
    (text, name) => {
      const follow = parseBooleanWord(text);
      return follow === undefined ? invalid(name, `${quoted(text)} is neither true nor false`) : { follow };
    },
  ],
]);

/** Parses the text after the `?`. Throws one 400 that names every bad parameter in query order. */
export const parseLogRequest = (queryString: string): LogRequest =>
  Object.assign({ tailLines: DEFAULT_TAIL, follow: true }, ...readParameters(queryString, READERS));
