/** After this time without scrolling, the places are kept. Browsers allow about three changes of the history a second. */
const PAUSE_MS = 300;
/** Content comes later than its view: for this long the places are looked for, and this often. */
const PATIENCE_MS = 4_000;
const STEP_MS = 50;

/** What scrolls on the page: the window on small screens, the view, and the tables in it. */
const scrollers = (): readonly Element[] => [
  document.documentElement,
  ...document.querySelectorAll('main, main .table'),
];

/** Keeps where the view and its tables are scrolled to, in the step of the browser's history that shows them. */
export function keepPlaces(): void {
  const places = scrollers().map(({ scrollTop }) => Math.round(scrollTop));
  history.replaceState({ places }, '');
}

let endLast = (): void => {};

/** Scrolls to where the reader was in this step of the history, as soon as the content is there, unless the reader scrolls first. */
function returnToPlaces(): void {
  endLast();
  const { places = [] } = (history.state ?? {}) as { readonly places?: readonly number[] };
  if (!places.some((top) => top > 0)) return;
  const until = performance.now() + PATIENCE_MS;
  const timer = setInterval(() => {
    const now = scrollers();
    const missing = places.filter((top, place) => !isThere(now[place], top));
    if (missing.length === 0 || performance.now() > until) endLast();
  }, STEP_MS);
  const ended = new AbortController();
  endLast = () => {
    clearInterval(timer);
    ended.abort();
  };
  for (const name of ['wheel', 'touchstart', 'pointerdown', 'keydown'])
    addEventListener(name, () => endLast(), { signal: ended.signal, capture: true, passive: true });
}

function isThere(element: Element | undefined, top: number): boolean {
  if (element && Math.abs(element.scrollTop - top) > 1) element.scrollTop = top;
  return element !== undefined && Math.abs(element.scrollTop - top) <= 1;
}

/** Leaves the places of the view that is left, and begins at the top of the next one. */
export function beginAtTop(): void {
  endLast();
  scrollTo(0, 0);
  document.querySelector('main')?.scrollTo(0, 0);
}

/** Keeps places and returns to them by the buttons of the browser, until the page is closed. */
export function followPlaces(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  history.scrollRestoration = 'manual';
  let scrolledAt = 0;
  // One timer a scroll and not one a frame of it.
  const keepAfterPause = (): void => {
    const waitMs = scrolledAt + PAUSE_MS - performance.now();
    timer = waitMs > 0 ? setTimeout(keepAfterPause, waitMs) : undefined;
    if (timer === undefined) keepPlaces();
  };
  document.addEventListener(
    'scroll',
    () => {
      scrolledAt = performance.now();
      timer ??= setTimeout(keepAfterPause, PAUSE_MS);
    },
    { capture: true, passive: true },
  );
  addEventListener('popstate', () => {
    clearTimeout(timer);
    timer = undefined;
    returnToPlaces();
  });
  returnToPlaces();
}
