import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { call } from '../api/call.ts';
import type { KubernetesObject } from '../api/objects.ts';
import { withCarets } from '../logs/log-text.ts';
import { Loading } from '../parts/loading.tsx';
import { inShort } from '../parts/trouble.tsx';
import { t } from '../texts/text.ts';
import { go } from './address.ts';
import { hrefOfObject } from './object-href.ts';
import { resourcesRoot } from './settings.ts';

interface Found {
  readonly items: readonly (KubernetesObject & { readonly resource: string })[];
  readonly totalItems: Readonly<Record<string, number>>;
  readonly leftOut: readonly { readonly resource: string; readonly reason: string }[];
}

/** Objects shown at once. */
const LIMIT = 12;
/** Waits for the end of typing. */
const PAUSE_MS = 150;

/** Finds objects of every kind in memory, among those that the reader may see (KD-40). `/` goes there from everywhere (W-20). */
export function SearchBox() {
  const input = useRef<HTMLInputElement>(null);
  const words = useSignal('');
  const found = useSignal<Found | undefined>(undefined);
  const fault = useSignal('');
  const active = useSignal(-1);
  const isOpen = useSignal(false);
  useEffect(() => focusBySlash(input), []);
  useEffect(() => {
    const stop = new AbortController();
    const q = words.value.trim();
    if (q === '') {
      found.value = undefined;
      return;
    }
    const timer = setTimeout(async () => {
      const outcome = await call<Found>(`${resourcesRoot()}/search?${new URLSearchParams({ q, limit: `${LIMIT}` })}`, {
        signal: stop.signal,
      }).catch(() => undefined);
      if (!outcome || stop.signal.aborted) return;
      fault.value = outcome.ok ? '' : inShort(outcome.refusal);
      found.value = outcome.ok ? outcome.value : undefined;
      active.value = -1;
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [words.value]);
  const items = found.value?.items ?? [];
  const close = (): void => {
    isOpen.value = false;
  };
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && items.length > 0) {
      event.preventDefault();
      active.value = (active.value + step + items.length) % items.length;
    } else if (event.key === 'Enter') {
      const item = items[Math.max(0, active.value)];
      if (item) {
        close();
        go(hrefOfObject(item.resource, item));
      }
    } else if (event.key === 'Escape') close();
  };
  const isShown = isOpen.value && words.value.trim() !== '';
  return (
    <search
      onFocusOut={({ currentTarget, relatedTarget }) => {
        if (!(relatedTarget instanceof Node && currentTarget.contains(relatedTarget))) close();
      }}
    >
      <input
        ref={input}
        type="search"
        role="combobox"
        list={undefined}
        aria-label={t().search.label}
        aria-expanded={isShown}
        aria-controls="found"
        aria-autocomplete="list"
        aria-activedescendant={isShown && active.value >= 0 ? `found-${active.value}` : undefined}
        placeholder={t().search.placeholder}
        maxLength={253}
        spellcheck={false}
        autocomplete="off"
        value={words.value}
        onInput={({ currentTarget }) => {
          words.value = currentTarget.value;
          isOpen.value = true;
        }}
        onFocus={() => (isOpen.value = true)}
        onKeyDown={onKey}
      />
      <div class="found" hidden={!isShown}>
        <ul id="found" role="listbox" aria-label={t().search.results}>
          {items.map((item, place) => (
            <li
              key={`${item.resource} ${item.metadata.uid}`}
              id={`found-${place}`}
              role="option"
              aria-selected={place === active.value}
              onPointerDown={(event) => {
                event.preventDefault();
                close();
                go(hrefOfObject(item.resource, item));
              }}
            >
              <span class="kind">{item.kind ?? item.resource}</span>
              <bdi>{withCarets(item.metadata.name)}</bdi>
              {item.metadata.namespace !== undefined && (
                <bdi class="soft">{withCarets(item.metadata.namespace ?? '')}</bdi>
              )}
            </li>
          ))}
        </ul>
        <p role="status" class="soft">
          {fault.value || (found.value && summary(found.value)) || (isShown && <Loading key={words.value} />)}
        </p>
      </div>
    </search>
  );
}

function summary({ items, totalItems, leftOut }: Found): string {
  const texts = t().search;
  const total = Object.values(totalItems).reduce((sum, count) => sum + count, 0);
  const first = total === 0 ? texts.none : total > items.length ? texts.more(items.length, total) : '';
  const asleep = leftOut.filter(({ reason }) => reason === 'not in memory').length;
  return (
    [first, asleep > 0 && total <= items.length ? texts.asleep(asleep) : ''].filter((part) => part !== '').join(' ') ||
    texts.all
  );
}

function focusBySlash(input: { readonly current: HTMLInputElement | null }): () => void {
  const onKey = (event: KeyboardEvent): void => {
    const { target } = event;
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
    if (target instanceof Element && target.matches('input, textarea, select, [contenteditable]')) return;
    event.preventDefault();
    input.current?.focus();
    input.current?.select();
  };
  document.addEventListener('keydown', onKey);
  return () => document.removeEventListener('keydown', onKey);
}
