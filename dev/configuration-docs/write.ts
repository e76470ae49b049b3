import { writeFileSync } from 'node:fs';
import { configJsonSchema } from '../../src/config/load.ts';
import { configurationPage, type Schema } from './page.ts';

/**
 * Writes the files that are generated from the schema of the configuration: config.schema.json for editors, and
 * docs/configuration.md for people.
 */
const schema = configJsonSchema();
const write = (name: string, text: string): void => writeFileSync(new URL(`../../${name}`, import.meta.url), text);

write('config.schema.json', `${JSON.stringify(schema, undefined, 2)}\n`);
write('docs/configuration.md', configurationPage(schema as Schema));
