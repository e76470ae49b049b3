import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { call } from '../../api/call.ts';
import type { Refusal } from '../../api/refusal.ts';
import { address, hrefTo } from '../../app/address.ts';
import type { ViewProps } from '../../app/views.ts';
import { untilAnswered } from '../../live/until-answered.ts';
import { Loading } from '../../parts/loading.tsx';
import { Title } from '../../parts/title.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { t } from '../../texts/text.ts';
import { Filters, TextFilter } from '../filters.tsx';
import { type Description, type Operation, operationsOf } from './description.ts';
import { OperationView } from './operation-view.tsx';
import { Prose } from './prose.tsx';

/** It is public, and that of the server's release: one reading is enough for as long as the page is open. */
const description = signal<Description | undefined>(undefined);
const refusal = signal<Refusal | undefined>(undefined);

async function load(): Promise<Refusal | undefined> {
  if (description.value) return undefined;
  const outcome = await call<Description>('/openapi/platform.json');
  if (outcome.ok) description.value = outcome.value;
  refusal.value = outcome.ok ? undefined : outcome.refusal;
  return refusal.value;
}

/** The operations of the API, to read about and to try. */
export function Explorer({ parts: [id] }: ViewProps) {
  useEffect(() => {
    const stop = new AbortController();
    void untilAnswered(load, stop.signal);
    return () => stop.abort();
  }, []);
  const described = description.value;
  const operations = useMemo(() => (described ? operationsOf(described) : []), [described]);
  const chosen = operations.find((operation) => operation.id === id);
  return (
    <>
      <Title text={chosen ? `${chosen.method} ${chosen.path}` : t().views.api}>
        {chosen ? <OperationName operation={chosen} /> : t().views.api}
      </Title>
      {refusal.value && <Trouble refusal={refusal.value} again={() => void load()} />}
      {!described && !refusal.value && (
        <p class="soft">
          <Loading />
        </p>
      )}
      {described && chosen && <OperationView operation={chosen} description={described} />}
      {described && !chosen && <OperationList operations={operations} description={described} />}
    </>
  );
}

function OperationName({ operation: { method, path } }: { readonly operation: Operation }) {
  return (
    <>
      <a href={hrefTo(['api'])} class="up">
        {t().views.api}
      </a>{' '}
      <span class={`method ${method.toLowerCase()}`}>{method}</span> {path}
    </>
  );
}

interface OperationListProps {
  readonly operations: readonly Operation[];
  readonly description: Description;
}

function OperationList({ operations, description: { tags = [] } }: OperationListProps) {
  const texts = t().explorer;
  const wanted = (address.value.parameters['find'] ?? '').toLowerCase();
  const found = operations.filter(({ method, path, summary, id }) =>
    `${method} ${path} ${summary} ${id}`.toLowerCase().includes(wanted),
  );
  return (
    <>
      <p>
        {texts.means} <a href="/openapi/platform.yaml">/openapi/platform.yaml</a>
      </p>
      <Filters>
        <TextFilter name="find" label={texts.find} placeholder="users, POST, logs …" />
      </Filters>
      <p role="status" class="soft">
        {texts.operations(found.length)}
      </p>
      {tags
        .map(({ name, description = '' }) => ({
          name,
          about: description,
          operations: found.filter(({ tag }) => tag === name),
        }))
        .filter((tag) => tag.operations.length > 0)
        .toSorted((a, b) => Number(isForOthers(a)) - Number(isForOthers(b)))
        .map((tag) => (
          <TagPart key={tag.name} {...tag} />
        ))}
    </>
  );
}

/** Whether the page can send few of these: they come last. */
const isForOthers = ({ operations }: TagPartProps): boolean =>
  operations.filter(({ isSent }) => isSent).length < operations.length / 2;

interface TagPartProps {
  readonly name: string;
  readonly about: string;
  readonly operations: readonly Operation[];
}

function TagPart({ name, about, operations }: TagPartProps) {
  return (
    <section aria-labelledby={`tag-${name}`}>
      <h2 id={`tag-${name}`} lang="en">
        {name}
      </h2>
      <Prose text={about} />
      <ul class="operations">
        {operations.map(({ id, method, path, summary }) => (
          <li key={id}>
            <span class={`method ${method.toLowerCase()}`}>{method}</span>
            <a href={hrefTo(['api', id])}>{path}</a>
            <span class="soft" lang="en">
              {summary}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
