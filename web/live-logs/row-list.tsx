import { useSignal } from '@preact/signals';
import { Component, type RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { bytesText } from '../api/quantity.ts';
import { RecordTime } from '../documents/record-time.tsx';
import { LogLine } from '../logs/log-line.tsx';
import { withCarets } from '../logs/log-text.ts';
import { t } from '../texts/text.ts';
import type { Block, Row } from './kept-rows.ts';
import type { ShownPod } from './shown-pods.ts';
import { type RowFilter, shownRows } from './shown-rows.ts';

interface RowListProps {
  readonly blocks: readonly Block[];
  readonly filter: RowFilter;
  readonly pods: ReadonlyMap<string, ShownPod>;
  /** Whether more than one container writes. */
  readonly withContainers: boolean;
}

/** The rows of the stream. The end stays in sight until the reader scrolls up. */
export function RowList(props: RowListProps) {
  const { blocks, filter } = props;
  const list = useRef<HTMLDivElement>(null);
  const { isAtEnd, toEnd, onScroll } = useEnd(list, blocks);
  return (
    <div class="stream">
      <div ref={list} class="log" role="region" aria-label={t().liveLogs.title} tabIndex={0} onScroll={onScroll}>
        <div>
          {blocks.map((block) => (
            <BlockRows key={block.number} {...props} rows={shownRows(block, filter)} />
          ))}
        </div>
      </div>
      {!isAtEnd && (
        <button type="button" class="badge to-end" onClick={toEnd}>
          {t().liveLogs.toEnd} ↓
        </button>
      )}
    </div>
  );
}

/** Nearer to the end than this, in pixels, is at the end: heights on a zoomed screen are no whole numbers. */
const NEAR = 8;

/** Keeps the end of a scrolled element in sight. Only scrolling up ends that, and scrolling to the end begins it again. */
function useEnd(scrolled: RefObject<HTMLDivElement | null>, content: unknown) {
  const isAtEnd = useSignal(true);
  const last = useRef(0);
  const toEnd = (): void => {
    isAtEnd.value = true;
    if (scrolled.current) scrolled.current.scrollTop = scrolled.current.scrollHeight;
  };
  const stay = (): void => {
    if (isAtEnd.peek()) toEnd();
  };
  useLayoutEffect(stay, [content]);
  useEffect(() => {
    // Rows get their height when they come into sight.
    const observer = new ResizeObserver(stay);
    if (scrolled.current) observer.observe(scrolled.current);
    if (scrolled.current?.firstElementChild) observer.observe(scrolled.current.firstElementChild);
    return () => observer.disconnect();
  }, []);
  const onScroll = (): void => {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = scrolled.current ?? {};
    const isNear = scrollHeight - scrollTop - clientHeight < NEAR;
    if (isNear) isAtEnd.value = true;
    else if (scrollTop < last.current) isAtEnd.value = false;
    last.current = scrollTop;
  };
  return { isAtEnd: isAtEnd.value, toEnd, onScroll };
}

interface BlockRowsProps extends Omit<RowListProps, 'blocks'> {
  readonly rows: readonly Row[];
}

/** A block is drawn again only if it shows something else. */
class BlockRows extends Component<BlockRowsProps> {
  override shouldComponentUpdate({ rows, filter, withContainers }: BlockRowsProps): boolean {
    const { props } = this;
    return rows !== props.rows || filter.wanted !== props.filter.wanted || withContainers !== props.withContainers;
  }

  override render({ rows, filter, pods, withContainers }: BlockRowsProps) {
    if (rows.length === 0) return null;
    return (
      <div class="block">
        {rows.map((row, place) => (
          <RowView key={place} row={row} wanted={filter.wanted} pods={pods} withContainers={withContainers} />
        ))}
      </div>
    );
  }
}

interface RowViewProps extends Pick<BlockRowsProps, 'pods' | 'withContainers'> {
  readonly row: Row;
  readonly wanted: RegExp | undefined;
}

function RowView({ row, wanted, pods, withContainers }: RowViewProps) {
  const texts = t().liveLogs;
  if (row.type === 'note') return <div class="row note">{texts.gap(row.seconds)}</div>;
  const { pod, container = '' } = row;
  const isBoth = withContainers && container !== '';
  return (
    <div class={`row pod-${pods.get(pod)?.colour ?? 0}${row.type === 'pod' ? ' note' : ''}`}>
      {row.type === 'line' ? <RecordTime time={row.time} /> : <span />}
      <span class="who" title={`${pod} / ${container}`}>
        <bdi>{withCarets(endOf(pod, isBoth ? 12 : 23))}</bdi>
        {isBoth && (
          <>
            {' / '}
            <bdi>{withCarets(container)}</bdi>
          </>
        )}
      </span>
      {row.type === 'line' ? (
        <span class="text">
          <LogLine text={row.text} wanted={wanted} />
          {row.leftOut !== undefined && <span class="soft"> [{texts.leftOut(bytesText(row.leftOut))}]</span>}
        </span>
      ) : (
        <span class="text">
          {texts.events[row.event]}{' '}
          <span class="soft">{row.event === 'joined' || row.event === 'left' ? '' : row.message}</span>
        </span>
      )}
    </div>
  );
}

/** Pods of a workload differ at the ends of their names. */
const endOf = (name: string, length: number): string => (name.length > length + 1 ? `…${name.slice(-length)}` : name);
