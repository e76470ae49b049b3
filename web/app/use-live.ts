import { useEffect, useMemo } from 'preact/hooks';
import { LiveList } from '../live/live-list.ts';
import { Polled } from '../live/polled.ts';

/** A list that lives as long as the view shows it. Another path or another filter is another list. Where the API has no watch, it is polled. */
export function useLiveList(
  path: string,
  parameters: Readonly<Record<string, string>>,
  { isPolled = false } = {},
): LiveList {
  const key = JSON.stringify([path, parameters]);
  const list = useMemo(() => new LiveList({ path, parameters, isPolled }), [key]);
  useEffect(() => () => list.close(), [list]);
  return list;
}

/** An answer that is asked for again as long as the view shows it. */
export function usePolled<T>(path: string, everyMs?: number): Polled<T> {
  const polled = useMemo(() => new Polled<T>(path, everyMs), [path, everyMs]);
  useEffect(() => () => polled.close(), [polled]);
  return polled;
}
