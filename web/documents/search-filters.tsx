import type { ComponentChildren } from 'preact';
import { address, setParameters } from '../app/address.ts';
import { t } from '../texts/text.ts';
import { valuesOf } from './query.ts';
import { addressTime, addressTimeOfField, fieldTime, RANGES, rangeOf, spanOf } from './time-range.ts';

const CUSTOM = 'custom';

/** The time of a search, and the order of what it finds. Both are in the address. */
export function TimeAndOrder() {
  const texts = t().documents;
  return (
    <>
      <TimeFilter />
      <label class="filter">
        {texts.order}
        <select
          value={address.value.parameters['sort'] ?? ''}
          onChange={({ currentTarget }) => setParameters({ sort: currentTarget.value })}
        >
          <option value="">{texts.newest}</option>
          <option value="asc">{texts.oldest}</option>
        </select>
      </label>
    </>
  );
}

function TimeFilter() {
  const texts = t().documents;
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

interface ChosenProps {
  /** What values are called, by the parameter of the address that they are in. */
  readonly names: Readonly<Record<string, string>>;
  readonly children?: ComponentChildren;
}

/** The values that were chosen by a link. Each can be taken away. */
export function Chosen({ names, children }: ChosenProps) {
  const { takeAway } = t().documents;
  const { parameters } = address.value;
  const chosen = Object.entries(names).flatMap(([name, label]) => {
    const values = valuesOf(parameters[name]);
    return values.map((value) => ({ name, label, value, others: values.filter((one) => one !== value).join(',') }));
  });
  if (chosen.length === 0) return null;
  return (
    <ul class="chosen">
      {chosen.map(({ name, label, value, others }) => (
        <li key={`${name} ${value}`}>
          <button type="button" class="badge" title={takeAway} onClick={() => setParameters({ [name]: others })}>
            {label} <bdi>{value}</bdi> <span class="cross" aria-hidden="true" />
            <span class="unseen">: {takeAway}</span>
          </button>
        </li>
      ))}
      {children}
    </ul>
  );
}
