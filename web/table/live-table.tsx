import { useSignal } from '@preact/signals';
import { Component, type ComponentChildren, type TargetedKeyboardEvent } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { KubernetesObject } from '../api/objects.ts';
import { address, go, setParameters } from '../app/address.ts';
import type { LiveList } from '../live/live-list.ts';
import { t } from '../texts/text.ts';
import { type Column, leastWidth, trackList } from './column.ts';
import { useDrawnRows } from './drawn-rows.ts';
import { ROW_PX, useVirtualRows, type VirtualRows } from './virtual-rows.ts';

interface LiveTableProps {
  readonly list: LiveList;
  readonly columns: readonly Column[];
  /** What the table shows, for those who hear it. */
  readonly label: string;
  /** What the table says when nothing matches a filter. Without one, it says that there is nothing. */
  readonly empty: ComponentChildren;
}

/** The borders above and below the table. */
const BORDERS_PX = 2;

/** The order in the address. Without one the newest object comes first, as the server lists them. */
interface Order {
  readonly sortBy: string;
  readonly isAscending: boolean;
}

const orderOf = ({ sort = '', asc = '' }: Readonly<Record<string, string>>): Order => ({
  sortBy: sort,
  isAscending: asc === '1',
});

/**
 * A table of any length: only rows on the screen are in the document. While somebody points at it, the order stands still (W-10).
 * One row has the focus; the arrow keys move it (WAI-ARIA, grid pattern).
 */
export function LiveTable({ list, columns, label, empty }: LiveTableProps) {
  const scrolled = useRef<HTMLDivElement>(null);
  const active = useSignal(0);
  const total = list.total.value ?? 0;
  const rows = useVirtualRows(total, scrolled);
  useShown(list, rows);
  useHeld(list, scrolled);
  const drawn = useDrawnRows(list.rows.value, rows);
  const widths = trackList(columns);
  // Without any answer there is nothing that a table could show: what is wrong is said above it.
  if (list.total.value === undefined && list.refusal.value) return null;
  if (list.total.value === 0) return <div class="empty">{isFiltered() ? empty : <p>{t().table.nothing}</p>}</div>;
  // One row in the document can be reached by the keyboard, wherever the table is scrolled to.
  const activeRow = Math.max(rows.first, Math.min(active.value, rows.end - 1));
  const heightPx = total * ROW_PX;
  const wanted = heightPx + ROW_PX + BORDERS_PX;
  const move = (to: number): void => {
    active.value = Math.max(0, Math.min(total - 1, to));
    rows.scrollTo(active.value);
    focusRow(scrolled.current, active);
  };
  return (
    <div class="table" ref={scrolled} style={{ flexBasis: `${wanted}px`, minHeight: `min(6rem, ${wanted}px)` }}>
      <div
        role="grid"
        style={{ minWidth: leastWidth(columns) }}
        aria-label={label}
        aria-rowcount={total + 1}
        aria-colcount={columns.length}
        aria-busy={list.total.value === undefined}
        onFocusIn={({ target }) => {
          active.value = placeOf(target) ?? active.value;
        }}
        onKeyDown={(event) => onKey(event, active.value, move)}
      >
        <Head columns={columns} widths={widths} order={orderOf(address.value.parameters)} />
        <div role="rowgroup" class="rows" style={{ height: `${heightPx}px` }}>
          {placesIn(rows).map((index) => (
            <Row
              key={index}
              index={index}
              object={drawn.get(index)}
              columns={columns}
              widths={widths}
              isActive={index === activeRow}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

/** Whether the address asks for a part of the list. */
const isFiltered = (): boolean =>
  Object.entries(address.value.parameters).some(([name, value]) => !['sort', 'asc'].includes(name) && value !== '');

/** Tells the list what is on the screen. */
function useShown(list: LiveList, { first, end }: VirtualRows): void {
  useEffect(() => list.show(first, end - 1), [list, first, end]);
}

const placesIn = ({ first, end }: VirtualRows): readonly number[] =>
  Array.from({ length: end - first }, (_, place) => first + place);

/** The place of the row of an object that an element is, or is in; the heads of the columns have none. */
function placeOf(element: EventTarget | null): number | undefined {
  const row = element instanceof Element ? element.closest<HTMLElement>('[data-place]') : null;
  return row ? Number(row.dataset['place']) : undefined;
}

/** Lets the order stand still while the pointer is in the table, or the focus of the keyboard in a row of it. */
function useHeld(list: LiveList, scrolled: { readonly current: HTMLElement | null }): void {
  useEffect(() => {
    const element = scrolled.current;
    if (!element) return;
    const { activeElement } = document;
    // A list of another order or filter comes while the pointer is where it was.
    const held = {
      pointer: element.matches(':hover'),
      focus: element.contains(activeElement) && placeOf(activeElement) !== undefined,
    };
    const set = (change: Partial<typeof held>): void => {
      Object.assign(held, change);
      list.hold(held.pointer || held.focus);
    };
    set({});
    const listeners: Readonly<Record<string, (event: Event) => void>> = {
      pointerenter: () => set({ pointer: true }),
      pointerleave: () => set({ pointer: false }),
      focusin: ({ target }) => set({ focus: placeOf(target) !== undefined }),
      focusout: () => set({ focus: false }),
    };
    for (const [name, listener] of Object.entries(listeners)) element.addEventListener(name, listener);
    return () => {
      for (const [name, listener] of Object.entries(listeners)) element.removeEventListener(name, listener);
    };
  }, [list, scrolled, scrolled.current]);
}

const PAGE = 15;

function onKey(event: TargetedKeyboardEvent<HTMLDivElement>, at: number, move: (to: number) => void): void {
  if (placeOf(event.target) === undefined) return;
  const steps: Readonly<Record<string, number>> = {
    ...{ ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + PAGE, PageUp: at - PAGE },
    ...{ Home: 0, End: Number.MAX_SAFE_INTEGER },
  };
  const to = steps[event.key];
  if (to !== undefined) {
    event.preventDefault();
    move(to);
  } else if (event.key === 'Enter') {
    const link = (event.target as Element).querySelector('a');
    if (link && event.target instanceof HTMLElement && event.target.matches('[role=row]'))
      go(link.pathname + link.search);
  }
}

/** The row is in the document after it was drawn. Another key may have gone on by then. */
function focusRow(table: HTMLElement | null, active: { readonly value: number }): void {
  requestAnimationFrame(() => {
    requestAnimationFrame(() =>
      table?.querySelector<HTMLElement>(`[data-place="${active.value}"]`)?.focus({ preventScroll: true }),
    );
  });
}

interface HeadProps {
  readonly columns: readonly Column[];
  readonly widths: string;
  readonly order: Order;
}

function Head({ columns, widths, order }: HeadProps) {
  return (
    <div role="rowgroup" class="head">
      <div role="row" aria-rowindex={1} class="row" style={{ gridTemplateColumns: widths }}>
        {columns.map(({ id, title, sortBy, isNumber }) => {
          const isSorted = sortBy !== undefined && (order.sortBy || 'createTime') === sortBy;
          // What was created last has the least age.
          const isAge = sortBy === 'createTime';
          const sorted = isSorted ? (order.isAscending === isAge ? 'descending' : 'ascending') : undefined;
          // Names are looked for from the beginning, numbers from the largest: the pod that was started again most often.
          const isNextAscending = isSorted ? !order.isAscending : !isNumber;
          return (
            <div key={id} role="columnheader" aria-sort={sorted} class={isNumber ? 'number' : undefined}>
              {sortBy === undefined ? (
                title
              ) : (
                <button
                  type="button"
                  class="sort"
                  title={t().table.sort(title)}
                  onClick={() => setParameters({ sort: sortBy, asc: isNextAscending ? '1' : '' })}
                >
                  {title}
                </button>
              )}
            </div>
          );
        })}
      </div>
    </div>
  );
}

const classOf = ({ isNumber, isFitting }: Column): string | undefined =>
  isNumber ? 'number' : isFitting ? 'fits' : undefined;

interface RowProps {
  readonly index: number;
  /** `undefined` until it is read. */
  readonly object: KubernetesObject | undefined;
  readonly columns: readonly Column[];
  readonly widths: string;
  readonly isActive: boolean;
}

/** Drawn again only when its object or its place has changed. */
class Row extends Component<RowProps> {
  override shouldComponentUpdate(next: RowProps): boolean {
    const { index, object, columns, isActive } = this.props;
    return next.object !== object || next.index !== index || next.columns !== columns || next.isActive !== isActive;
  }

  override render({ index, object, columns, widths, isActive }: RowProps) {
    return (
      <div
        role="row"
        class="row"
        aria-rowindex={index + 2}
        data-place={index}
        tabIndex={isActive ? 0 : -1}
        style={{ gridTemplateColumns: widths, height: `${ROW_PX}px`, transform: `translateY(${index * ROW_PX}px)` }}
      >
        {object === undefined ? (
          <div role="gridcell" aria-colspan={columns.length} class="coming" />
        ) : (
          columns.map((column) => (
            <div key={column.id} role="gridcell" class={classOf(column)}>
              {column.cell(object)}
            </div>
          ))
        )}
      </div>
    );
  }
}
