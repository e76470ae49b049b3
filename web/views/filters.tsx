import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { address, setParameters } from '../app/address.ts';
import { t } from '../texts/text.ts';

/** Waits for the end of typing before the list is asked for. */
const PAUSE_MS = 250;

/** The filters of a view, as one form. They work as they are changed: there is nothing to send. */
export function Filters({ children }: { readonly children: ComponentChildren }) {
  return (
    <search>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        {children}
      </form>
    </search>
  );
}

interface TextFilterProps {
  /** The parameter of the address. */
  readonly name: string;
  readonly label: string;
  readonly placeholder?: string;
  /** What is to be known about it. */
  readonly title?: string;
  /** Values that the browser offers. Others can be typed. */
  readonly suggestions?: readonly string[];
}

/** A filter that is typed. */
export function TextFilter({ name, label, placeholder = '', title, suggestions }: TextFilterProps) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const field = useRef<HTMLInputElement>(null);
  const asked = address.value.parameters[name] ?? '';
  /** What the field was last made to say, or says itself: spaces at its end, as before `in`, are not taken from who goes on typing. */
  const said = useRef<string>(undefined);
  useLayoutEffect(() => {
    if (asked === said.current || !field.current) return;
    clearTimeout(timer.current);
    said.current = asked;
    field.current.value = asked;
  }, [asked]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <label class="filter">
      {label}
      <input
        ref={field}
        type="search"
        placeholder={placeholder}
        title={title}
        list={suggestions && `suggested-${name}`}
        spellcheck={false}
        autocomplete="off"
        onInput={({ currentTarget }) => {
          clearTimeout(timer.current);
          timer.current = setTimeout(() => {
            said.current = currentTarget.value.trim();
            setParameters({ [name]: said.current });
          }, PAUSE_MS);
        }}
      />
      {suggestions && (
        <datalist id={`suggested-${name}`}>
          {suggestions.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </label>
  );
}

interface ChoiceFilterProps {
  readonly name: string;
  readonly label: string;
  readonly choices: readonly (readonly [value: string, title: string])[];
}

/** A filter with a few words. Another one that the address has is shown as it is. */
export function ChoiceFilter({ name, label, choices }: ChoiceFilterProps) {
  const chosen = address.value.parameters[name] ?? '';
  const isKnown = chosen === '' || choices.some(([value]) => value === chosen);
  return (
    <label class="filter">
      {label}
      <select value={chosen} onChange={({ currentTarget }) => setParameters({ [name]: currentTarget.value })}>
        <option value="">{t().table.any}</option>
        {(isKnown ? choices : [...choices, [chosen, chosen] as const]).map(([value, title]) => (
          <option key={value} value={value}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The filters and the order in the address, as parameters of the list. `names` are those that the address and the list share. */
export function listParameters(names: readonly string[]): Record<string, string> {
  const { parameters } = address.value;
  const found: Record<string, string> = {};
  for (const name of names) if (parameters[name]) found[name] = parameters[name];
  if (parameters['labels']) found['labelSelector'] = parameters['labels'];
  return { ...found, ...orderParameters() };
}

/** The order in the address, as parameters of a list without filters. */
export function orderParameters(): Record<string, string> {
  const { sort, asc } = address.value.parameters;
  return { ...(sort ? { sortBy: sort } : {}), ...(asc === '1' ? { ascending: 'true' } : {}) };
}
