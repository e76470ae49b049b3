import { useEffect, useMemo } from 'preact/hooks';
import { bytesText } from '../api/quantity.ts';
import { address } from '../app/address.ts';
import { filtersOf } from '../documents/query.ts';
import { Results } from '../documents/results.tsx';
import { SearchPage, type SearchProps } from '../documents/search-page.tsx';
import { LogExport } from '../logs/log-export.ts';
import { LogFilters } from '../logs/log-filters.tsx';
import { LOG_FILTERS } from '../logs/log-query.ts';
import { LogSearch } from '../logs/log-search.ts';
import { patternOfQuery } from '../logs/log-text.ts';
import { RecordList } from '../logs/record-list.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { t } from '../texts/text.ts';

/** Searches the log store, also for what pods have written that are gone. */
export function Logs() {
  return (
    <SearchPage title={t().views.logs} filters={filtersOf(LOG_FILTERS, address.value.parameters)} search={Search}>
      <LogFilters />
    </SearchPage>
  );
}

function Search({ filters, sort, span, isOpen, onAgain }: SearchProps) {
  const texts = t().logs;
  const search = useMemo(() => new LogSearch({ filters, span, sort }), []);
  const wanted = useMemo(() => patternOfQuery(filters['log_query'] ?? ''), [filters['log_query']]);
  const { value: containers } = search.counted;
  return (
    <Results
      search={search}
      about={containers === undefined ? undefined : texts.containers(containers)}
      notes={<Followed search={search} />}
      actions={<Actions search={search} canFollow={isOpen && sort === 'desc'} />}
      none={[t().documents.none, t().documents.fromBeginning, texts.noneWhose].join(' ')}
      timeOf={({ time }) => time}
      list={(records) => <RecordList records={records} wanted={wanted} />}
      onAgain={onAgain}
    />
  );
}

interface SearchPartProps {
  readonly search: LogSearch;
}

/** What a search that is followed does not show. */
function Followed({ search: { missed, dropped } }: SearchPartProps) {
  const texts = t().logs;
  return (
    <>
      {missed.value > 0 && <span class="old"> · {texts.missed(missed.value)}</span>}
      {dropped.value > 0 && <span class="old"> · {texts.dropped(dropped.value)}</span>}
    </>
  );
}

function Actions({ search, canFollow }: SearchPartProps & { readonly canFollow: boolean }) {
  const texts = t().logs;
  const { records, total, isFollowing } = search;
  const isKnown = records.value !== undefined;
  return (
    <>
      {canFollow && isKnown && (
        <button type="button" aria-pressed={isFollowing.value} onClick={() => search.follow(!isFollowing.value)}>
          {texts.follow}
        </button>
      )}
      {isFollowing.value && <span class="live on">{texts.following}</span>}
      {isKnown && total.value > 0 && <Download search={search} />}
    </>
  );
}

function Download({ search }: SearchPartProps) {
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
