import { signal } from '@preact/signals';

/** A page that nobody has looked at for so long gives its stream back. */
const HIDDEN_MS = 60_000;

type Message = 'taken' | 'free';

const channel = new BroadcastChannel('gatehouse-stream');
const mine = signal(false);
const visible = signal(document.visibilityState === 'visible');
let hiddenTimer: ReturnType<typeof setTimeout> | undefined;

/**
 * Whether this page has the one stream of the browser (W-12): HTTP/1.1 has six connections a host for all pages together. The page that is
 * looked at has it; others ask from time to time.
 */
export const hasStream = mine;

/** Whether anybody can see this page. */
export const isVisible = visible;

function take(): void {
  clearTimeout(hiddenTimer);
  if (mine.value) return;
  mine.value = true;
  channel.postMessage('taken' satisfies Message);
}

function release(): void {
  if (!mine.value) return;
  mine.value = false;
  channel.postMessage('free' satisfies Message);
}

/** Begins to take and to give back the stream, until the page is closed. */
export function shareStream(): void {
  channel.addEventListener('message', ({ data }: MessageEvent<Message>) => {
    if (data === 'taken') mine.value = false;
    else if (visible.value) take();
  });
  document.addEventListener('visibilitychange', () => {
    visible.value = document.visibilityState === 'visible';
    clearTimeout(hiddenTimer);
    if (visible.value) take();
    else hiddenTimer = setTimeout(release, HIDDEN_MS);
  });
  addEventListener('focus', take);
  addEventListener('pagehide', release);
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted && visible.value) take();
  });
  // It may have come to the front, or gone from there, since this file was loaded.
  visible.value = document.visibilityState === 'visible';
  if (visible.value) take();
}
