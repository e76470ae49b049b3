import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { address, go, hrefTo } from '../app/address.ts';
import { Trouble } from '../parts/trouble.tsx';
import { t } from '../texts/text.ts';
import type { DocumentSearch } from './document-search.ts';
import { Histogram } from './histogram.tsx';
import { addressTime, type Span } from './time-range.ts';

interface ResultsProps<Document> {
  readonly search: DocumentSearch<Document>;
  /** What the records are about, behind their number. */
  readonly about?: string | undefined;
  /** What else is to be said about the records. */
  readonly notes?: ComponentChildren;
  /** What to know about all that is found. */
  readonly notice?: ComponentChildren;
  /** What else can be done with the search. */
  readonly actions?: ComponentChildren;
  /** What is said where nothing matches. */
  readonly none: string;
  timeOf(record: Document): string | undefined;
  list(records: readonly Document[]): ComponentChildren;
  onAgain(): void;
}

/** What a search has found: how many records, when, and which. The search ends with it. */
export function Results<Document>(props: ResultsProps<Document>) {
  const { search, notice, none, list } = props;
  useEffect(() => () => search.close(), [search]);
  const records = search.records.value;
  return (
    <>
      <Found {...props} />
      {notice && <p class="soft">{notice}</p>}
      {search.refusal.value && <Trouble refusal={search.refusal.value} again={() => search.again()} />}
      {search.bars.value && records?.length !== 0 && <Histogram bars={search.bars.value} onChoose={narrowTo} />}
      {records?.length === 0 && <p class="empty">{none}</p>}
      {records && records.length > 0 && list(records)}
      {records && records.length > 0 && <End {...props} />}
    </>
  );
}

/** Searches in this time only, as a step of the browser's history. */
function narrowTo({ start, end }: Span): void {
  const { parts, parameters } = address.value;
  go(hrefTo(parts, { ...parameters, range: '', since: addressTime(start), until: addressTime(end) }));
}

/** How many records there are, and what can be done with the search. */
function Found<Document>({ search, about, notes, actions, onAgain }: ResultsProps<Document>) {
  const texts = t().documents;
  const isKnown = search.records.value !== undefined;
  return (
    <div class="listed">
      <span role="status">
        {isKnown ? texts.records(search.total.value) : search.refusal.value ? '' : texts.searching}
        {about !== undefined && <span class="soft"> {about}</span>}
        {search.isSlow.value && <span class="old"> {texts.slow}</span>}
        {notes}
      </span>
      <button type="button" onClick={onAgain}>
        {texts.again}
      </button>
      {actions}
    </div>
  );
}

/** What comes after the last record that is shown. */
function End<Document>({ search, timeOf }: ResultsProps<Document>) {
  const texts = t().documents;
  if (search.hasMore)
    return (
      <p>
        <button type="button" disabled={search.isLoading.value} onClick={() => search.more()}>
          {search.isLoading.value ? texts.searching : texts.more}
        </button>
      </p>
    );
  if (!search.isBeyondWindow) return <p class="soft">{texts.all}</p>;
  const records = search.records.value ?? [];
  const lastRecord = records.at(-1);
  const last = Math.floor(Date.parse((lastRecord && timeOf(lastRecord)) ?? '') / 1_000);
  const { span, sort } = search.query;
  return (
    <p>
      {texts.window(records.length)}{' '}
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
