import type { FinalReturn } from './authorization-return.ts';

/** The page runs nothing, loads nothing and is kept nowhere. Its address has the code, which is in no `Referer`. */
export const PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  Connection: 'close',
};

/** What a person sees at the end of the sign-in. Whether the code is good will be said in the terminal. */
export const loopbackPage = (returned: FinalReturn): string =>
  returned.kind === 'code'
    ? page('The browser has done its part', 'You can close this window and go back to the terminal.')
    : page('The sign-in failed', `${returned.reason}. You can close this window and go back to the terminal.`);

/** The answer to every other request. */
export const NOT_HERE = page('Not found', 'This is not the answer to a sign-in that gatehouse waits for.');

function page(title: string, text: string): string {
  const [heading, paragraph] = [title, text].map(escaped);
  const head = `<meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>${heading}</title>`;
  return `<!doctype html><html lang="en"><head>${head}</head><body><h1>${heading}</h1><p>${paragraph}</p></body></html>\n`;
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
