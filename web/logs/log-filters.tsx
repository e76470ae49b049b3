import { address, hrefTo, setParameters } from '../app/address.ts';
import { t } from '../texts/text.ts';
import { Filters, TextFilter } from '../views/filters.tsx';
import { EXACT } from './log-query.ts';
import { addressTime, addressTimeOfField, fieldTime, RANGES, rangeOf, spanOf } from './time-range.ts';

const CUSTOM = 'custom';

/** What the search in the log store is narrowed by. All of it is in the address. */
export function LogFilters() {
  const texts = t().logs;
  const { parameters } = address.value;
  return (
    <>
      <Filters>
        <TextFilter name="log_query" label={texts.words} placeholder={texts.wordsHint} title={texts.wordsTitle} />
        <TextFilter name="namespace_query" label={texts.namespace} />
        <TextFilter name="pod_query" label={texts.pod} />
        <TextFilter name="container_query" label={texts.container} />
        <TimeFilter />
        <label class="filter">
          {texts.order}
          <select
            value={parameters['sort'] ?? ''}
            onChange={({ currentTarget }) => setParameters({ sort: currentTarget.value })}
          >
            <option value="">{texts.newest}</option>
            <option value="asc">{texts.oldest}</option>
          </select>
        </label>
      </Filters>
      <ExactFilters />
    </>
  );
}

function TimeFilter() {
  const texts = t().logs;
  const { range, since, until } = address.value.parameters;
  const chosen = rangeOf({ range, since, until }) ?? CUSTOM;
  const choose = (to: string): void => {
    const { start } = spanOf({ range, since, until }, Date.now());
    if (to === CUSTOM) setParameters({ range: '', since: addressTime(start) });
    else setParameters({ range: to, since: '', until: '' });
  };
  return (
    <>
      <label class="filter">
        {texts.time}
        <select value={chosen} onChange={({ currentTarget }) => choose(currentTarget.value)}>
          {Object.keys(RANGES).map((one) => (
            <option key={one} value={one}>
              {texts.ranges[one as keyof typeof RANGES]}
            </option>
          ))}
          <option value={CUSTOM}>{texts.fromTo}</option>
        </select>
      </label>
      {chosen === CUSTOM && <TimeField name="since" label={texts.from} value={since} />}
      {chosen === CUSTOM && <TimeField name="until" label={texts.to} value={until} />}
    </>
  );
}

interface TimeFieldProps {
  /** The parameter of the address. */
  readonly name: string;
  readonly label: string;
  readonly value: string | undefined;
}

function TimeField({ name, label, value }: TimeFieldProps) {
  const time = Date.parse(value ?? '');
  return (
    <label class="filter">
      {label}
      <input
        type="datetime-local"
        step="1"
        value={Number.isNaN(time) ? '' : fieldTime(Math.floor(time / 1_000))}
        onChange={({ currentTarget }) => setParameters({ [name]: addressTimeOfField(currentTarget.value) })}
      />
    </label>
  );
}

/** The names that were chosen by a link. Each can be taken away. */
function ExactFilters() {
  const texts = t().logs;
  const { parameters } = address.value;
  const chosen = EXACT.flatMap((name) => {
    const values = (parameters[name] ?? '').split(',').filter((value) => value !== '');
    return values.map((value) => ({ name, value, others: values.filter((one) => one !== value).join(',') }));
  });
  if (chosen.length === 0) return null;
  return (
    <ul class="chosen">
      {chosen.map(({ name, value, others }) => (
        <li key={`${name} ${value}`}>
          <button type="button" class="badge" title={texts.takeAway} onClick={() => setParameters({ [name]: others })}>
            {texts.exact[name]} <bdi>{value}</bdi> <span class="cross" aria-hidden="true" />
            <span class="unseen">: {texts.takeAway}</span>
          </button>
        </li>
      ))}
      <PodLink />
    </ul>
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
