/** A line of a container. */
export interface StreamLine {
  readonly type: 'line';
  readonly pod: string;
  readonly container: string;
  /** RFC 3339 by the node's clock; empty if the line has none. */
  readonly time: string;
  readonly text: string;
  /** Bytes that the server has left out at the end of the text. */
  readonly leftOut?: number;
}

const POD_EVENTS = ['joined', 'left', 'restarted', 'waiting', 'refused'] as const;

export interface PodRecord {
  readonly type: 'pod';
  readonly event: (typeof POD_EVENTS)[number];
  readonly pod: string;
  readonly container?: string;
  readonly message: string;
}

/** A record of the stream (docs/contract/gateway.md, section 13). */
export type StreamRecord =
  | StreamLine
  | PodRecord
  | { readonly type: 'more'; readonly shown: number; readonly pods: number }
  | { readonly type: 'cluster'; readonly event: 'away' | 'back' }
  | { readonly type: 'idle' }
  | { readonly type: 'end'; readonly reason: string; readonly message: string };

/** Reads a record. `undefined`: this page does not know its type, so it is newer, or it is no record. */
export function parseStreamRecord(line: string): StreamRecord | undefined {
  const record = jsonOf(line);
  if (typeof record !== 'object' || record === null) return undefined;
  const { type, event, pod, container, time, text, leftOut, message, shown, pods, reason } = record as Members;
  switch (type) {
    case 'line':
      if (!isText(pod) || !isText(container) || !isText(text)) return undefined;
      return { type, pod, container, time: textOf(time), text, ...(isNumber(leftOut) && { leftOut }) };
    case 'pod': {
      const known = POD_EVENTS.find((one) => one === event);
      if (!known || !isText(pod)) return undefined;
      return { type, event: known, pod, ...(isText(container) && { container }), message: textOf(message) };
    }
    case 'more':
      return isNumber(shown) && isNumber(pods) ? { type, shown, pods } : undefined;
    case 'cluster':
      return event === 'away' || event === 'back' ? { type, event } : undefined;
    case 'idle':
      return { type };
    case 'end':
      return { type, reason: textOf(reason), message: textOf(message) };
    default:
      return undefined;
  }
}

type Members = Readonly<Record<string, unknown>>;

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number';
const textOf = (value: unknown): string => (isText(value) ? value : '');
