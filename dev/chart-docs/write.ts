import { readFileSync, writeFileSync } from 'node:fs';
import { chartPage } from './page.ts';

/** Writes the README of the chart. */
const chart = new URL('../../charts/gatehouse/', import.meta.url);
const read = (name: string): string => readFileSync(new URL(name, chart), 'utf8');

const page = chartPage(read('Chart.yaml'), read('values.yaml'), JSON.parse(read('values.schema.json')));
writeFileSync(new URL('README.md', chart), page);
