import { effect } from '@preact/signals';
import { mayPass } from '../api/refusal.ts';
import { resourcesRoot } from '../app/settings.ts';
import { BackOff } from './back-off.ts';
import { followed } from './changes.ts';
import { openWatch } from './open-watch.ts';
import { pause } from './pause.ts';
import { hasStream } from './stream-turn.ts';

/**
 * While no table follows a list, the page follows the namespaces that its person may see, and does nothing with what it hears: the server ends
 * every stream at once when the session ends or the person is disabled, so that no view stays on the screen for longer. For a person
 * who may see none, the renewal of the session finds it within a minute. Lasts until the page is closed.
 */
export function listenForEnd(): void {
  effect(() => {
    if (!hasStream.value || followed.value > 0) return;
    const stop = new AbortController();
    void listen(stop.signal);
    return () => stop.abort();
  });
}

async function listen(signal: AbortSignal): Promise<void> {
  const backOff = new BackOff();
  while (!signal.aborted && (await heard(signal, backOff))) await pause(backOff.failed(), signal);
}

/** Resolves at the end of a stream; to `false` if there is none for this person. */
async function heard(signal: AbortSignal, backOff: BackOff): Promise<boolean> {
  try {
    const watch = await openWatch(`${resourcesRoot()}/namespaces`, { permitted: 'true' }, signal);
    if ('refusal' in watch) return mayPass(watch.refusal);
    for await (const _ of watch.lines) backOff.succeeded();
    return true;
  } catch {
    return true;
  }
}
