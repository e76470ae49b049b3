import { computed, signal } from '@preact/signals';
import { beginAtTop, followPlaces, keepPlaces } from './places.ts';

/** Where the page is: the path below the page's root, and the parameters that a view keeps in the address. */
interface Address {
  /** The parts of the path behind `/ui`, decoded: `['resources', 'pods']`. Empty on the overview. */
  readonly parts: readonly string[];
  readonly parameters: Readonly<Record<string, string>>;
}

const ROOT = '/ui';

const current = signal(read());

/** Where the page is now. */
export const address = computed(() => current.value);

function read(): Address {
  const { pathname, search } = location;
  const parts = pathname
    .replace(/^\/ui(?=\/|$)/, '')
    .split('/')
    .filter((part) => part !== '')
    .map(decode);
  return { parts, parameters: Object.fromEntries(new URLSearchParams(search)) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The path and query of an address. Parameters that are empty are left out. */
export function hrefTo(
  parts: readonly string[],
  parameters: Readonly<Record<string, string | undefined>> = {},
): string {
  const kept = Object.entries(parameters).filter(
    (pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== '',
  );
  const query = String(new URLSearchParams(kept));
  const path = parts.length === 0 ? '/' : `${ROOT}/${parts.map(encodeURIComponent).join('/')}`;
  return query === '' ? path : `${path}?${query}`;
}

/** Goes to an address of the page. The view that is left is no longer in the history if `replace` is set. */
export function go(href: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', href);
  else {
    keepPlaces();
    history.pushState(null, '', href);
  }
  current.value = read();
  if (!replace) beginAtTop();
}

/** Changes parameters of the address and keeps the others. An empty text removes one. Typing makes no step in the history. */
export function setParameters(changes: Readonly<Record<string, string>>): void {
  const { parts, parameters } = current.value;
  go(hrefTo(parts, { ...parameters, ...changes }), { replace: true });
}

/** Follows the buttons of the browser, and clicks on links of the page. Never returns to what it was before. */
export function followAddress(): void {
  addEventListener('popstate', () => {
    current.value = read();
  });
  followPlaces();
  document.addEventListener('click', (event) => {
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return;
    const link = (event.target as Element).closest?.('a');
    if (link?.target !== '' || link.hasAttribute('download') || link.origin !== location.origin) return;
    if (link.pathname !== '/' && link.pathname !== ROOT && !link.pathname.startsWith(`${ROOT}/`)) return;
    event.preventDefault();
    if (link.hash !== '' && link.pathname === location.pathname && link.search === location.search) return;
    go(link.pathname + link.search);
  });
}
