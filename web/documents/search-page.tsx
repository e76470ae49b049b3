import { useSignal } from '@preact/signals';
import type { ComponentChildren, ComponentType } from 'preact';
import { useMemo } from 'preact/hooks';
import { address } from '../app/address.ts';
import { Title } from '../parts/title.tsx';
import { t } from '../texts/text.ts';
import { type Span, spanOf } from './time-range.ts';

/** One search as the address says it. Another address is another search. */
export interface SearchProps {
  /** Parameters of the API. */
  readonly filters: Readonly<Record<string, string>>;
  readonly sort: 'asc' | 'desc';
  readonly span: Span;
  /** Whether the time range ends now, so that there can be newer records. */
  readonly isOpen: boolean;
  /** Searches once more, up to now. */
  onAgain(): void;
}

interface SearchPageProps {
  readonly title: string;
  /** What the search is narrowed by, as parameters of the API. */
  readonly filters: Readonly<Record<string, string>>;
  /** Shows what is found. */
  readonly search: ComponentType<SearchProps>;
  /** The filters, as the reader sees them. */
  readonly children: ComponentChildren;
}

/** A view that searches documents: its filters, and what one search with them finds. */
export function SearchPage({ title, filters, search: Search, children }: SearchPageProps) {
  const round = useSignal(0);
  const { range, since, until } = address.value.parameters;
  const sort = address.value.parameters['sort'] === 'asc' ? 'asc' : 'desc';
  const key = JSON.stringify([filters, sort, range, since, until, round.value]);
  const span = useMemo(() => spanOf({ range, since, until }, Date.now()), [key]);
  return (
    <>
      <Title>{title}</Title>
      {children}
      {span.end < span.start ? (
        <p class="empty">{t().documents.backwards}</p>
      ) : (
        <Search key={key} {...{ filters, sort, span }} isOpen={!until} onAgain={() => round.value++} />
      )}
    </>
  );
}
