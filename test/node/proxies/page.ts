import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentedFile } from '../stand/documented-commands.ts';

const PAGE = readFileSync(join(import.meta.dirname, '..', '..', '..', 'docs', 'operations', 'proxies.md'), 'utf8');

/** The name of Gatehouse on the page. */
export const HOST = 'gatehouse.example.com';

/** The address of the Service on the page. */
export const SERVICE_OF_PAGE = 'gatehouse.gatehouse-system.svc:80';

/** The first block of this language below a heading of docs/operations/proxies.md. */
export function blockOfPage(heading: string, language: string): string {
  return documentedFile(PAGE, heading, language);
}

/** The block with these texts replaced. Each of them has to be there. */
export function replacedIn(block: string, replaced: Readonly<Record<string, string>>): string {
  return Object.entries(replaced).reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`docs/operations/proxies.md has no ${from}`);
    return text.replaceAll(from, to);
  }, block);
}

/** The settings of the controller that no annotation has: the second block of YAML below `ingress-nginx`. */
export function controllerSettings(): string {
  const [, section = ''] = PAGE.split(/^## ingress-nginx$/m);
  const [, second] = [...section.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text]) => text);
  if (second === undefined) throw new Error('docs/operations/proxies.md has no settings of the controller');
  return second;
}
