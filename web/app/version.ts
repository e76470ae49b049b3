import { effect, signal } from '@preact/signals';
import { isVisible } from '../live/stream-turn.ts';
import type { Settings } from './settings.ts';

const EVERY_MS = 300_000;

/** Whether the server is of another version than the page. */
export const isOutdated = signal(false);

/** Compares the version of the server with that of the page now and then, and whenever somebody comes back to the page. */
export function watchVersion({ version }: Settings): void {
  setInterval(() => void (isVisible.value && compare(version)), EVERY_MS);
  let wasVisible = true;
  effect(() => {
    if (isVisible.value && !wasVisible) void compare(version);
    wasVisible = isVisible.value;
  });
}

async function compare(version: string): Promise<void> {
  try {
    const answer = await fetch('/ui/settings.json', { cache: 'no-cache' });
    if (answer.ok) isOutdated.value = ((await answer.json()) as Settings).version !== version;
  } catch {
    // The server is away: the views say so.
  }
}
