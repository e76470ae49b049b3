import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { bytesText } from '../api/quantity.ts';
import { address, go, hrefTo } from '../app/address.ts';
import { Histogram } from '../logs/histogram.tsx';
import { LogExport } from '../logs/log-export.ts';
import { LogFilters } from '../logs/log-filters.tsx';
import { filtersOf } from '../logs/log-query.ts';
import { LogSearch } from '../logs/log-search.ts';
import { patternOfQuery } from '../logs/log-text.ts';
import { RecordList } from '../logs/record-list.tsx';
import { addressTime, type Span, spanOf } from '../logs/time-range.ts';
import { Title } from '../parts/title.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { t } from '../texts/text.ts';

/** Searches the log store, also for what pods have written that are gone. */
export function Logs() {
  const round = useSignal(0);
  const { range, since, until } = address.value.parameters;
  const filters = filtersOf(address.value.parameters);
  const sort = address.value.parameters['sort'] === 'asc' ? 'asc' : 'desc';
  const key = JSON.stringify([filters, sort, range, since, until, round.value]);
  const span = useMemo(() => spanOf({ range, since, until }, Date.now()), [key]);
  return (
    <>
      <Title>{t().views.logs}</Title>
      <LogFilters />
      {span.end < span.start ? (
        <p class="empty">{t().logs.backwards}</p>
      ) : (
        <Search key={key} {...{ filters, sort, span }} isOpen={!until} onAgain={() => round.value++} />
      )}
    </>
  );
}

interface SearchProps {
  readonly filters: Readonly<Record<string, string>>;
  readonly sort: 'asc' | 'desc';
  readonly span: Span;
  /** Whether the time range ends now, so that there can be newer records. */
  readonly isOpen: boolean;
  onAgain(): void;
}

function Search({ filters, sort, span, isOpen, onAgain }: SearchProps) {
  const search = useMemo(() => new LogSearch({ filters, span, sort }), []);
  useEffect(() => () => search.close(), [search]);
  const wanted = useMemo(() => patternOfQuery(filters['log_query'] ?? ''), [filters['log_query']]);
  const records = search.records.value;
  return (
    <>
      <Found search={search} canFollow={isOpen && sort === 'desc'} onAgain={onAgain} />
      {search.refusal.value && <Trouble refusal={search.refusal.value} again={() => search.again()} />}
      {search.bars.value && records?.length !== 0 && <Histogram bars={search.bars.value} onChoose={narrowTo} />}
      {records?.length === 0 && (
        <p class="empty">
          {t().logs.none} {t().logs.noneWhose}
        </p>
      )}
      {records && records.length > 0 && <RecordList records={records} wanted={wanted} />}
      {records && records.length > 0 && <End search={search} />}
    </>
  );
}

/** Searches in this time only, as a step of the browser's history. */
function narrowTo({ start, end }: Span): void {
  const { parts, parameters } = address.value;
  go(hrefTo(parts, { ...parameters, range: '', since: addressTime(start), until: addressTime(end) }));
}

interface FoundProps {
  readonly search: LogSearch;
  readonly canFollow: boolean;
  onAgain(): void;
}

/** How many records there are, and what can be done with the search. */
function Found({ search, canFollow, onAgain }: FoundProps) {
  const texts = t().logs;
  const { total, containers, isFollowing, missed, dropped } = search;
  const isKnown = search.records.value !== undefined;
  return (
    <div class="listed">
      <span role="status">
        {isKnown ? texts.records(total.value) : search.refusal.value ? '' : texts.searching}
        {containers.value !== undefined && <span class="soft"> {texts.containers(containers.value)}</span>}
        {search.isSlow.value && <span class="old"> {texts.slow}</span>}
        {missed.value > 0 && <span class="old"> · {texts.missed(missed.value)}</span>}
        {dropped.value > 0 && <span class="old"> · {texts.dropped(dropped.value)}</span>}
      </span>
      <button type="button" onClick={onAgain}>
        {texts.again}
      </button>
      {canFollow && isKnown && (
        <button type="button" aria-pressed={isFollowing.value} onClick={() => search.follow(!isFollowing.value)}>
          {texts.follow}
        </button>
      )}
      {isFollowing.value && <span class="live on">{texts.following}</span>}
      {isKnown && total.value > 0 && <Download search={search} />}
    </div>
  );
}

function Download({ search }: { readonly search: LogSearch }) {
  const texts = t().logs;
  const download = useMemo(() => new LogExport(), []);
  useEffect(() => () => download.cancel(), [download]);
  const { value: bytes } = download.bytes;
  const { value: result } = download.result;
  return (
    <>
      {bytes === undefined ? (
        <button type="button" onClick={() => void download.start(search)}>
          {texts.download}
        </button>
      ) : (
        <button type="button" onClick={() => download.cancel()}>
          {texts.cancel}
        </button>
      )}
      <span role="status">
        {bytes !== undefined && texts.coming(bytesText(bytes))}
        {result && result.how === 'whole' && result.lines >= search.total.value
          ? texts.saved(bytesText(result.bytes), result.lines)
          : result && <span class="old">{texts.cut(result.lines, search.total.value)}</span>}
        {result?.how === 'too-big' && <span class="old"> {texts.tooBig}</span>}
      </span>
      {download.refusal.value && <Trouble refusal={download.refusal.value} again={() => void download.start(search)} />}
    </>
  );
}

/** What comes after the last record that is shown. */
function End({ search }: { readonly search: LogSearch }) {
  const texts = t().logs;
  if (search.hasMore)
    return (
      <p>
        <button type="button" disabled={search.isLoading.value} onClick={() => search.more()}>
          {search.isLoading.value ? texts.searching : texts.more}
        </button>
      </p>
    );
  if (!search.isBeyondWindow) return <p class="soft">{texts.all}</p>;
  const last = Math.floor(Date.parse(search.records.value?.at(-1)?.time ?? '') / 1_000);
  const { span, sort } = search.query;
  return (
    <p>
      {texts.window(search.records.value?.length ?? 0)}{' '}
      {!Number.isNaN(last) && (
        <button
          type="button"
          onClick={() => narrowTo(sort === 'asc' ? { start: last, end: span.end } : { start: span.start, end: last })}
        >
          {texts.narrow}
        </button>
      )}
    </p>
  );
}
