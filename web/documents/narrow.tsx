import { address, hrefTo } from '../app/address.ts';
import { withCarets } from '../logs/log-text.ts';

interface NarrowProps {
  /** What becomes of the parameters of the address. */
  readonly to: Readonly<Record<string, string>>;
  readonly name: string;
}

/** A name that narrows the search to it. Commas separate the values of a filter, so a name with one is only shown. */
export function Narrow({ to, name }: NarrowProps) {
  if (name === '') return null;
  const shown = <bdi>{withCarets(name)}</bdi>;
  if (Object.values(to).some((value) => value.includes(','))) return shown;
  const { parts, parameters } = address.value;
  return (
    <a class="narrow" href={hrefTo(parts, { ...parameters, ...to })} title={name}>
      {shown}
    </a>
  );
}
