import { render } from 'preact';
import { SLOW_MS, sessionHasEnded } from './api/call.ts';
import type { Refusal } from './api/refusal.ts';
import { followAddress } from './app/address.ts';
import { loadViewsAhead } from './app/lazy.tsx';
import { NotKnown } from './app/not-known.tsx';
import { comesFromSignIn, keepSession, renewSession, signIn, signInWhenEnded } from './app/session.ts';
import { loadSettings, settings } from './app/settings.ts';
import { Shell } from './app/shell.tsx';
import { showStoredTheme } from './app/theme.ts';
import { watchVersion } from './app/version.ts';
import { BackOff } from './live/back-off.ts';
import { listenForEnd } from './live/session-stream.ts';
import { shareStream } from './live/stream-turn.ts';
import { Loading } from './parts/loading.tsx';
import { Trouble } from './parts/trouble.tsx';
import { showStoredLanguage } from './texts/text.ts';

/** Runs until the page is drawn. While the server is away, the page says so and tries again. */
async function main(place: HTMLElement): Promise<void> {
  showStoredTheme();
  await showStoredLanguage();
  const backOff = new BackOff();
  const slow = setTimeout(() => render(<SlowStart />, place), SLOW_MS);
  for (;;) {
    const refusal = await begin();
    clearTimeout(slow);
    if (refusal === undefined) break;
    if (sessionHasEnded.value) return comesFromSignIn() ? render(<NotKnown refusal={refusal} />, place) : signIn();
    render(<Trouble refusal={refusal} />, place);
    await new Promise((resolve) => setTimeout(resolve, backOff.failed(refusal.retryAfterSeconds)));
  }
  watchVersion(settings());
  signInWhenEnded();
  shareStream();
  followAddress();
  keepSession();
  listenForEnd();
  // In two tasks, because both at once are 120 ms on a slow processor, during which nothing answers.
  render(<Shell isEmpty />, place);
  await new Promise((resolve) => setTimeout(resolve));
  render(<Shell />, place);
  loadViewsAhead();
}

/** Until the server has said who is here, nothing is drawn, which is a blank page with a slow one. */
const SlowStart = () => (
  <main>
    <p class="soft">
      <Loading isSlow />
    </p>
  </main>
);

async function begin(): Promise<Refusal | undefined> {
  try {
    await loadSettings();
  } catch (error) {
    return { status: 0, reason: 'Away', message: String(error), method: 'GET', path: '/ui/settings.json', causes: [] };
  }
  return renewSession();
}

const place = document.getElementById('app');
if (place) void main(place);
