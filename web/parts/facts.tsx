import type { ComponentChildren } from 'preact';
import { withCarets } from '../logs/log-text.ts';

export type Fact = readonly [name: string, value: ComponentChildren];

/** Names and values, one under the other. Values that are missing are left out. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts
        .filter(([, value]) => value !== undefined && value !== '' && value !== false)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{typeof value === 'string' ? withCarets(value) : value}</dd>
          </div>
        ))}
    </dl>
  );
}

const FIRST = 20;

/** Labels or annotations as a value among facts; nothing where there are none. */
export const words = (all: Readonly<Record<string, string>> | undefined, more: string): ComponentChildren =>
  Object.keys(all ?? {}).length > 0 && <Words words={all} more={more} />;

/** Shows the first words, and the others when the reader asks for them. */
function Words({
  words,
  more,
}: {
  readonly words: Readonly<Record<string, string>> | undefined;
  readonly more: string;
}) {
  const all = Object.entries(words ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const chips = (some: typeof all) => (
    <ul class="words">
      {some.map(([key, value]) => (
        <li key={key}>
          <bdi>{withCarets(key)}</bdi>
          {value !== '' && (
            <>
              <span class="soft">=</span>
              <bdi>{withCarets(value)}</bdi>
            </>
          )}
        </li>
      ))}
    </ul>
  );
  return (
    <>
      {chips(all.slice(0, FIRST))}
      {all.length > FIRST && (
        <details>
          <summary>{more.replace('%', String(all.length - FIRST))}</summary>
          {chips(all.slice(FIRST))}
        </details>
      )}
    </>
  );
}
