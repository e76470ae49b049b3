import { readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'yaml';
import { chartPage } from './page.ts';

/** Writes the README of the chart, and its values as a JSON file, because a template cannot read values.yaml. */
const chart = new URL('../../charts/gatehouse/', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, chart), 'utf8');

const page = chartPage(read('Chart.yaml'), read('values.yaml'), JSON.parse(read('values.schema.json')));
writeFileSync(new URL('README.md', chart), page);
writeFileSync(new URL('files/values.json', chart), `${JSON.stringify(parse(read('values.yaml')), undefined, 2)}\n`);
