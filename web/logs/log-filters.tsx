import { address, hrefTo } from '../app/address.ts';
import { Chosen, TimeAndOrder } from '../documents/search-filters.tsx';
import { t } from '../texts/text.ts';
import { Filters, TextFilter } from '../views/filters.tsx';

/** What the search in the log store is narrowed by. All of it is in the address. */
export function LogFilters() {
  const texts = t().logs;
  return (
    <>
      <Filters>
        <TextFilter
          name="log_query"
          label={texts.words}
          placeholder={texts.wordsHint}
          title={t().documents.wordsTitle}
        />
        <TextFilter name="namespace_query" label={texts.namespace} />
        <TextFilter name="pod_query" label={texts.pod} />
        <TextFilter name="container_query" label={texts.container} />
        <TimeAndOrder />
      </Filters>
      <Chosen names={texts.exact}>
        <PodLink />
      </Chosen>
    </>
  );
}

/** The way to the pod, where the logs are those of one. It may be gone by now. */
function PodLink() {
  const { namespaces = '', pods = '' } = address.value.parameters;
  if ([namespaces, pods].some((names) => names === '' || names.includes(','))) return null;
  return (
    <li>
      <a href={hrefTo(['resources', 'pods', namespaces, pods])}>{t().logs.toPod}</a>
    </li>
  );
}
