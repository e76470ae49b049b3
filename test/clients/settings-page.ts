import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const PAGE = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'browser-sign-in.md'), 'utf8');

/** A text of the page, and what stands for it in a test. */
type Replaced = Readonly<Record<string, string>>;

/** The issuer on the page. */
export const ISSUER = 'https://gatehouse.example.com/oauth';

/** The block of code below this heading of docs/browser-sign-in.md, with these texts replaced. Each of them has to be there. */
export function blockBelow(heading: string, replaced: Replaced): string {
  const section = PAGE.split(/^### /m).find((text) => text.startsWith(`${heading}\n`));
  const block = /^```\w+\n(.*?)^```$/ms.exec(section ?? '')?.[1];
  if (block === undefined) throw new Error(`docs/browser-sign-in.md has no code below ${heading}`);
  return Object.entries(replaced).reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`the code below ${heading} has no ${from}`);
    return text.replaceAll(from, to);
  }, block);
}

interface Client {
  readonly name: string;
  readonly secretName?: string;
}

/** All clients of the page's configuration. Those with a secret have this one. */
export function clientsOfPage(secret: string, replaced: Replaced): object[] {
  const { authentication } = parse(blockBelow('Configuration of Gatehouse', replaced));
  return (authentication.oauthOptions.clients as Client[]).map(({ secretName, ...client }) =>
    secretName === undefined ? client : { ...client, secret },
  );
}
