import { useEffect, useReducer, useRef } from 'preact/hooks';
import type { KubernetesObject } from '../api/objects.ts';
import type { Rows } from '../live/rows.ts';

/**
 * Rows that get their content in one frame. A row takes about 2.5 ms on a slow processor (a quarter of the speed of a developer's machine), so
 * that a frame stays near its 16 ms, and a screen of forty rows is full after a tenth of a second.
 */
const ROWS_PER_FRAME = 5;

interface Places {
  readonly first: number;
  readonly end: number;
}

/**
 * The objects of the rows in the document, except those that get their content in one of the next frames: a whole screen at once would be a
 * task during which nothing moves.
 */
export function useDrawnRows(rows: Rows, { first, end }: Places): Rows {
  const [, drawMore] = useReducer((turn: number) => turn + 1, 0);
  const before = useRef<ReadonlyMap<number, KubernetesObject>>(new Map());
  const drawn = new Map<number, KubernetesObject>();
  let begun = 0;
  let waits = false;
  for (let index = first; index < end; index++) {
    const object = rows.get(index);
    if (object === undefined) continue;
    if (!before.current.has(index) && ++begun > ROWS_PER_FRAME) waits = true;
    else drawn.set(index, object);
  }
  before.current = drawn;
  useEffect(() => {
    if (!waits) return;
    const frame = requestAnimationFrame(() => drawMore(undefined));
    return () => cancelAnimationFrame(frame);
  });
  return drawn;
}
