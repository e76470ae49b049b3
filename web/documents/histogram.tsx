import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { exactTime } from '../parts/time.tsx';
import { t } from '../texts/text.ts';
import type { Bar, Span } from './time-range.ts';

/** The drawing, in its own units: the browser stretches it. */
const HEIGHT = 48;
const BAR = 10;
const GAP = 1.5;

interface HistogramProps {
  readonly bars: readonly Bar[];
  /** Narrows the time to that of a bar. */
  onChoose(span: Span): void;
}

const timeText = (seconds: number): string => exactTime(new Date(seconds * 1_000));

const label = ({ span: { start, end }, count }: Bar): string =>
  `${timeText(start)} – ${timeText(end)}: ${t().documents.records(count)}`;

/** How many records there are when. Each bar is a button; the arrow keys go from one to the next. */
export function Histogram({ bars, onChoose }: HistogramProps) {
  const current = useSignal(0);
  const drawing = useRef<SVGSVGElement>(null);
  const most = Math.max(1, ...bars.map(({ count }) => count));
  const first = bars[0];
  const last = bars.at(-1);
  if (!first || !last) return null;
  const moveTo = (place: number): void => {
    current.value = Math.min(bars.length - 1, Math.max(0, place));
    drawing.current?.querySelectorAll<SVGElement>('[role=button]')[current.value]?.focus();
  };
  const onKey = (event: KeyboardEvent, bar: Bar, place: number): void => {
    const to = { ArrowLeft: place - 1, ArrowRight: place + 1, Home: 0, End: bars.length - 1 }[event.key];
    if (to !== undefined) moveTo(to);
    else if (event.key === 'Enter' || event.key === ' ') onChoose(bar.span);
    else return;
    event.preventDefault();
  };
  return (
    <figure class="histogram">
      <svg
        ref={drawing}
        viewBox={`0 0 ${bars.length * BAR} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="group"
        aria-label={t().documents.histogram}
      >
        {bars.map((bar, place) => (
          <g
            key={bar.span.start}
            role="button"
            // SVG knows the attribute in small letters only.
            tabindex={place === Math.min(current.value, bars.length - 1) ? 0 : -1}
            aria-label={label(bar)}
            onClick={() => onChoose(bar.span)}
            onKeyDown={(event) => onKey(event, bar, place)}
          >
            <title>{label(bar)}</title>
            <rect class="place" x={place * BAR} width={BAR} height={HEIGHT} />
            <rect class="count" x={place * BAR + GAP / 2} width={BAR - GAP} {...extent(bar.count, most)} />
          </g>
        ))}
      </svg>
      <figcaption>
        <span>{timeText(first.span.start)}</span>
        <span>{t().documents.most(most)}</span>
        <span>{timeText(last.span.end)}</span>
      </figcaption>
      <details>
        <summary>{t().documents.asTable}</summary>
        <BarTable bars={bars} onChoose={onChoose} />
      </details>
    </figure>
  );
}

/** Any record at all can be seen. */
function extent(count: number, most: number): { readonly y: number; readonly height: number } {
  const height = count === 0 ? 0 : Math.max(1.5, (count / most) * HEIGHT);
  return { y: HEIGHT - height, height };
}

function BarTable({ bars, onChoose }: HistogramProps) {
  return (
    <div class="scrolled">
      <table>
        <thead>
          <tr>
            <th scope="col">{t().documents.from}</th>
            <th scope="col">{t().documents.to}</th>
            <th scope="col" class="number">
              {t().documents.recordsTitle}
            </th>
          </tr>
        </thead>
        <tbody>
          {bars
            .filter(({ count }) => count > 0)
            .map(({ span, count }) => (
              <tr key={span.start}>
                <th scope="row">
                  <button type="button" class="quiet" onClick={() => onChoose(span)}>
                    {timeText(span.start)}
                  </button>
                </th>
                <td>{timeText(span.end)}</td>
                <td class="number">{count}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  );
}
