import { signal } from '@preact/signals';
import { store, stored } from './stored.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const STORED = 'theme';

export const theme = signal<Theme>('system');

/** Draws the page in these colours, and remembers that in this browser. */
export function chooseTheme(to: Theme): void {
  store(STORED, to);
  show(to);
}

export function showStoredTheme(): void {
  const chosen = stored(STORED);
  show(THEMES.find((one) => one === chosen) ?? 'system');
}

function show(to: Theme): void {
  theme.value = to;
  const { dataset } = document.documentElement;
  if (to === 'system') delete dataset['theme'];
  else dataset['theme'] = to;
}
