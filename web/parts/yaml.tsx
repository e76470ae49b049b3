import { useSignal } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import { t } from '../texts/text.ts';
import { CopyButton } from './copied.tsx';
import { type YamlLine, yamlLines } from './yaml-lines.ts';

/** Lines that are drawn at once: an object of a million lines would make the browser stand still. */
const MOST = 5_000;

/** An object as YAML. Parts of it can be folded, and lines with a word are marked. */
export function Yaml({ value, label }: { readonly value: unknown; readonly label: string }) {
  const folded = useSignal<ReadonlySet<string>>(new Set());
  const word = useSignal('');
  const shown = useRef<HTMLDivElement>(null);
  const most = useSignal(MOST);
  const lines = useMemo(() => yamlLines(value), [value]);
  const wanted = word.value.toLowerCase();
  const isHit = (text: string): boolean => wanted !== '' && text.toLowerCase().includes(wanted);
  const hits = lines.filter(({ lead, text }) => isHit(lead + text)).length;
  const toggle = (path: string): void => {
    const now = new Set(folded.value);
    if (!now.delete(path)) now.add(path);
    folded.value = now;
  };
  const drawn = lines.slice(0, most.value);
  let hiddenBelow: string | undefined;
  return (
    <section class="yaml" aria-label={label}>
      <search class="filters">
        <label class="filter">
          {t().yaml.find}
          <input type="search" value={word.value} onInput={({ currentTarget }) => (word.value = currentTarget.value)} />
        </label>
        <CopyButton textOf={() => textOf(lines)} shown={shown} />
        <span role="status" class="soft">
          {wanted === '' ? '' : t().yaml.hits(hits)}
        </span>
      </search>
      <div class="code" ref={shown} role="group" aria-label={label} tabIndex={0}>
        {drawn.map(({ path, depth, lead, text, isParent }) => {
          const isHidden = hiddenBelow !== undefined && path.startsWith(`${hiddenBelow}/`) && !isHit(lead + text);
          if (hiddenBelow !== undefined && !path.startsWith(`${hiddenBelow}/`)) hiddenBelow = undefined;
          const isFolded = folded.value.has(path);
          if (isFolded && hiddenBelow === undefined) hiddenBelow = path;
          if (isHidden) return null;
          return (
            <div
              key={path}
              class={isHit(lead + text) ? 'line hit' : 'line'}
              style={{ paddingLeft: `calc(2rem + ${depth * 2}ch)` }}
            >
              {isParent && (
                <button
                  type="button"
                  class="fold"
                  aria-expanded={!isFolded}
                  aria-label={t().yaml.fold(lead)}
                  onClick={() => toggle(path)}
                />
              )}
              <span class="lead">{lead}</span>
              <bdi>{text}</bdi>
              {isFolded && <span class="soft"> …</span>}
            </div>
          );
        })}
      </div>
      {lines.length > drawn.length && (
        <p>
          <button type="button" onClick={() => (most.value += MOST)}>
            {t().more.replace('%', String(lines.length - drawn.length))}
          </button>
        </p>
      )}
    </section>
  );
}

/** The whole of it, also where parts are folded, with the two spaces a step that the reader sees. */
const textOf = (lines: readonly YamlLine[]): string =>
  lines.map(({ depth, lead, text }) => `${'  '.repeat(depth)}${lead}${text}\n`).join('');
