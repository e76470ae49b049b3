import type { PodView } from './pod-view.ts';

/** The most pods of one stream (G-28, docs/contract/gateway.md): nobody reads more at once. */
export const MOST_SHOWN = 50;

/** Orders pods as they are chosen: those that are ready first, then those that have not finished, then the newest; then by name. */
export function byChoice(a: PodView, b: PodView): number {
  return (
    Number(b.isReady) - Number(a.isReady) ||
    Number(a.isFinished) - Number(b.isFinished) ||
    compare(b.createdAt, a.createdAt) ||
    compare(a.name, b.name)
  );
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
