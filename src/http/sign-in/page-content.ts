import { SCOPES } from '../../oauth/endpoints/grant.ts';
import { type Html, html } from './html.ts';
import type { Language } from './texts.ts';

/** What differs from page to page. */
export interface PageContent {
  readonly title: string;
  readonly main: Html;
  /** Default: 200. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Where the form may lead to, besides ourselves. */
  readonly formTargets?: readonly string[];
}

/** Says who is signed in. */
export const signedInAs = (user: string, { signedInAs: before }: Pick<Language['texts'], 'signedInAs'>): Html =>
  html`<p>${before} <strong>${user}</strong></p>`;

/** What the client learns; nothing if it asks for no scope. */
export function scopeList(
  wanted: readonly string[],
  { scopes: words, itLearns }: Pick<Language['texts'], 'scopes' | 'itLearns'>,
): Html | undefined {
  const items = SCOPES.filter((scope) => wanted.includes(scope)).map(
    (scope) => html`<li>${words[scope] ?? scope}</li>
`,
  );
  return items.length > 0 ? html`<p>${itLearns}</p>\n<ul>\n${items}</ul>` : undefined;
}
