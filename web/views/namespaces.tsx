import { resourcesRoot } from '../app/settings.ts';
import { useLiveList } from '../app/use-live.ts';
import { Title } from '../parts/title.tsx';
import { t } from '../texts/text.ts';
import { Filters, listParameters, TextFilter } from './filters.tsx';
import { ObjectTable } from './object-table.tsx';

/** The namespaces that the reader may see. */
export function Namespaces() {
  const list = useLiveList(`${resourcesRoot()}/namespaces`, { ...listParameters(['name']), permitted: 'true' });
  return (
    <>
      <Title>{t().views.namespaces}</Title>
      <Filters>
        <TextFilter name="name" label={t().table.name} />
        <TextFilter name="labels" label={t().table.labels} />
      </Filters>
      <ObjectTable
        plural="namespaces"
        list={list}
        label={t().views.namespaces}
        noun={t().nouns.namespaces}
        isNamespaced={false}
      />
    </>
  );
}
