/** One line of a watch stream: `metav1.WatchEvent`. The object has not been checked yet. */
export interface WatchEvent {
  readonly type: string;
  readonly object: Readonly<Record<string, unknown>>;
}

/** Returns `undefined` for a line that is no watch event. The stream cannot be trusted after that. */
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
