import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { markdownTable } from '../../dev/markdown-table.ts';
import { STEPS, type Step } from './client-program.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The file that the tests note their results in, a line each. */
    readonly results: string;
  }
}

interface Note {
  readonly client: string;
  readonly step: Step;
  readonly isGood: boolean;
}

/** Prints at the end of a run which client did what. */
export function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-clients-'));
  const file = join(folder, 'results');
  writeFileSync(file, '');
  project.provide('results', file);
  return () => {
    process.stdout.write(`\n${tableOf(readFileSync(file, 'utf8'))}\n`);
    rmSync(folder, { recursive: true, force: true });
  };
}

function tableOf(text: string): string {
  const notes = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Note);
  const byClient = [...Map.groupBy(notes, ({ client }) => client)].sort(([one], [other]) => (one < other ? -1 : 1));
  const rows = byClient.map(([client, own]) => {
    const last = new Map(own.map(({ step, isGood }) => [step, isGood ? 'yes' : 'NO']));
    return [client, ...STEPS.map((step) => last.get(step) ?? '–')];
  });
  return markdownTable(['client', ...STEPS], rows);
}
