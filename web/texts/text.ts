import { signal } from '@preact/signals';
import { store, stored } from '../app/stored.ts';
import { en, type Texts } from './en.ts';

export const LANGUAGES = { en: 'English', zh: '中文' } as const;
export type Language = keyof typeof LANGUAGES;

const STORED = 'language';
const texts = signal<Texts>(en);
const chosen = signal<Language>('en');

/** The texts of the page in the language of its reader. */
export const t = (): Texts => texts.value;

export const language = chosen;

const isLanguage = (text: string | null | undefined): text is Language =>
  text !== null && text !== undefined && Object.hasOwn(LANGUAGES, text);

/** Shows the page in this language, and remembers that in this browser. Chinese is loaded when it is needed. */
export async function chooseLanguage(to: Language): Promise<void> {
  store(STORED, to);
  await show(to);
}

/** Shows the page in the language that was chosen here, else in the one that the browser prefers. */
export function showStoredLanguage(): Promise<void> {
  const before = stored(STORED);
  const preferred = navigator.languages.map((tag) => tag.slice(0, 2)).find(isLanguage);
  return show(isLanguage(before) ? before : (preferred ?? 'en'));
}

async function show(to: Language): Promise<void> {
  texts.value = to === 'zh' ? (await import('./zh.ts')).zh : en;
  chosen.value = to;
  document.documentElement.lang = to === 'zh' ? 'zh-CN' : to;
}
