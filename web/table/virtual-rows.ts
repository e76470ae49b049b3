import type { RefObject } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';

/** The height of a row, as in the style. */
export const ROW_PX = 32;

/** Rows are drawn and taken away in steps of so many, so that most frames of a scroll change nothing in the document. */
const STEP_ROWS = 8;
/** Rows beyond the visible ones, on each side. */
const SPARE_ROWS = 2;

/** The rows that are in the document: those on the screen and a few around them. */
export interface VirtualRows {
  readonly first: number;
  /** The place behind the last one. */
  readonly end: number;
  /** Scrolls until a row is on the screen. */
  scrollTo(index: number): void;
}

interface Window {
  readonly first: number;
  readonly end: number;
}

/**
 * Which of `count` rows the scrolled element shows. All rows are equally high and begin below a head that stays and is as high as a row, so
 * the answer is arithmetic whatever the number of rows is.
 */
export function useVirtualRows(count: number, scrolled: RefObject<HTMLElement | null>): VirtualRows {
  const [shown, setShown] = useState<Window>({ first: 0, end: 0 });
  useEffect(() => {
    const element = scrolled.current;
    if (!element) return;
    let heightPx = element.clientHeight;
    const look = (): void => {
      const next = windowAt(element.scrollTop, heightPx);
      setShown((now) => (now.first === next.first && now.end === next.end ? now : next));
    };
    const sizes = new ResizeObserver(([entry]) => {
      heightPx = entry?.contentRect.height ?? heightPx;
      look();
    });
    sizes.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      sizes.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, [scrolled, scrolled.current]);
  const scrollTo = useCallback(
    (index: number) => {
      const element = scrolled.current;
      if (!element) return;
      const [top, bottom] = [index * ROW_PX, (index + 1) * ROW_PX];
      const visiblePx = element.clientHeight - ROW_PX;
      if (top < element.scrollTop) element.scrollTop = top;
      else if (bottom > element.scrollTop + visiblePx) element.scrollTop = bottom - visiblePx;
    },
    [scrolled],
  );
  const end = Math.min(count, shown.end);
  return { first: Math.min(shown.first, end), end, scrollTo };
}

/** The rows for a place in pixels, in whole steps. */
function windowAt(topPx: number, heightPx: number): Window {
  const step = STEP_ROWS * ROW_PX;
  const first = Math.floor(topPx / step) * STEP_ROWS - SPARE_ROWS;
  const end = Math.ceil((topPx + heightPx) / step) * STEP_ROWS + SPARE_ROWS;
  return { first: Math.max(0, first), end };
}
