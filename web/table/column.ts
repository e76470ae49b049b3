import type { ComponentChildren } from 'preact';
import type { KubernetesObject } from '../api/objects.ts';

/** A column of a live table. */
export interface Column {
  readonly id: string;
  readonly title: string;
  /** The least width in rem, and the share of the width that is left over. Without a share it is fixed. */
  readonly width: readonly [leastRem: number, share?: number];
  /** The word of `sortBy`, where the server can sort by it. */
  readonly sortBy?: string;
  readonly isNumber?: boolean;
  /** The content is never wider than the column, so that nothing must be cut: to cut costs time in each frame of a scroll. */
  readonly isFitting?: boolean;
  cell(object: KubernetesObject): ComponentChildren;
}

/** The space between two columns, and beside the first and the last one, as in the style. */
const GAP_REM = 1;
const SIDE_REM = 0.75;

/** The columns as in `grid-template-columns`. */
export const trackList = (columns: readonly Column[]): string =>
  columns
    .map(({ width: [least, share] }) => (share === undefined ? `${least}rem` : `minmax(${least}rem, ${share}fr)`))
    .join(' ');

/** The width below which a table scrolls to the side. */
export const leastWidth = (columns: readonly Column[]): string =>
  `${columns.reduce((sum, { width: [least] }) => sum + least + GAP_REM, 2 * SIDE_REM - GAP_REM)}rem`;
