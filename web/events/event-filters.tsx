import { Chosen, TimeAndOrder } from '../documents/search-filters.tsx';
import { t } from '../texts/text.ts';
import { ChoiceFilter, Filters, TextFilter } from '../views/filters.tsx';
import { COMMON_KINDS } from './event-object.tsx';

const KINDS = COMMON_KINDS.map(({ kind }) => kind);

/** The types that Kubernetes knows (core/v1, Event). */
const TYPES = ['Normal', 'Warning'].map((type) => [type, type] as const);

/** What the search of events is narrowed by. All of it is in the address. */
export function EventFilters() {
  const texts = t().eventSearch;
  const { wordsTitle } = t().documents;
  return (
    <>
      <Filters>
        <TextFilter name="message" label={texts.message} placeholder={texts.messageHint} title={wordsTitle} />
        <ChoiceFilter name="type" label={texts.type} choices={TYPES} />
        <TextFilter name="reason" label={texts.reason} />
        <TextFilter name="kind" label={texts.kind} suggestions={KINDS} />
        <TextFilter name="name" label={texts.name} />
        <TextFilter name="namespace" label={texts.namespace} />
        <TimeAndOrder />
      </Filters>
      <Chosen names={texts.chosen} />
    </>
  );
}
