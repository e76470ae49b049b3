import { readFileSync, writeFileSync } from 'node:fs';
import { configJsonSchema } from '../../src/config/load.ts';
import { durationsOf, withConfigSchema } from './chart-schema.ts';
import { configurationPage, type Schema } from './page.ts';

/**
 * Writes the files that are generated from the schema of the configuration: config.schema.json for editors,
 * docs/configuration.md for people, and for the chart the schema of its value `config` and the limits of durations.
 */
const schema = configJsonSchema() as Schema;
const urlOf = (name: string): URL => new URL(`../../${name}`, import.meta.url);
const write = (name: string, text: string): void => writeFileSync(urlOf(name), text);
const json = (content: unknown): string => `${JSON.stringify(content, undefined, 2)}\n`;

const VALUES = 'charts/gatehouse/values.schema.json';

write('config.schema.json', json(schema));
write('docs/configuration.md', configurationPage(schema));
write(VALUES, json(withConfigSchema(JSON.parse(readFileSync(urlOf(VALUES), 'utf8')), schema)));
write('charts/gatehouse/files/durations.json', json(durationsOf(schema)));
