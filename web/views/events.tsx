import { useMemo } from 'preact/hooks';
import { readEvent } from '../api/events.ts';
import { address } from '../app/address.ts';
import { DocumentSearch } from '../documents/document-search.ts';
import { filtersOf } from '../documents/query.ts';
import { Results } from '../documents/results.tsx';
import { SearchPage, type SearchProps } from '../documents/search-page.tsx';
import { EventFilters } from '../events/event-filters.tsx';
import { EVENT_FILTERS } from '../events/event-query.ts';
import { EventTable } from '../events/event-table.tsx';
import { patternOfQuery } from '../logs/log-text.ts';
import { t } from '../texts/text.ts';

const EVENTS = { path: 'events', counted: 'resources', buckets: 'buckets' };

/** Searches the events in the store; without a store, those that the cluster still has. */
export function Events() {
  return (
    <SearchPage title={t().views.events} filters={filtersOf(EVENT_FILTERS, address.value.parameters)} search={Search}>
      <EventFilters />
    </SearchPage>
  );
}

function Search({ filters, sort, span, onAgain }: SearchProps) {
  const texts = t().eventSearch;
  const search = useMemo(() => new DocumentSearch<object>(EVENTS, { filters, span, sort }), []);
  const { message = '' } = address.value.parameters;
  const wanted = useMemo(() => patternOfQuery(message), [message]);
  const { value: objects } = search.counted;
  return (
    <Results
      search={search}
      about={objects === undefined ? undefined : texts.objects(objects)}
      notice={search.isWarned.value && texts.isLive}
      none={[t().documents.none, t().documents.fromBeginning, texts.noneWhose].join(' ')}
      timeOf={(event) => readEvent(event).last}
      list={(events) => <EventTable events={events} wanted={wanted} />}
      onAgain={onAgain}
    />
  );
}
