/** One line of a watch stream: `metav1.WatchEvent`. The object is as yet unchecked. */
export interface WatchEvent {
  readonly type: string;
  readonly object: Readonly<Record<string, unknown>>;
}

/** `undefined` for a line that is no watch event; the stream cannot be trusted after it. */
export function parseWatchEvent(line: string): WatchEvent | undefined {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch {
    return undefined;
  }
  return isWatchEvent(event) ? event : undefined;
}

function isWatchEvent(value: unknown): value is WatchEvent {
  if (typeof value !== 'object' || value === null) return false;
  const { type, object } = value as Partial<WatchEvent>;
  return typeof type === 'string' && typeof object === 'object' && object !== null;
}
