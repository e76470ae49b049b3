import { posix } from 'node:path';
import type { Module } from './read.ts';

/** What one reader can hold: a file of one concept, a folder that is a table of contents. */
const MOST_LINES = 300;
const MOST_FILES = 24;

/** The files and folders of these modules that are too large, a sentence each. */
export function tooLarge(modules: readonly Module[]): string[] {
  const long = modules.filter(({ lines }) => lines > MOST_LINES);
  const byFolder = Map.groupBy(modules, ({ file }) => posix.dirname(file));
  const full = [...byFolder].filter(([, files]) => files.length > MOST_FILES);
  return [
    ...long.map(({ file, lines }) => `${file} has ${lines} lines: ${MOST_LINES} at most`),
    ...full.map(([folder, files]) => `${folder} has ${files.length} files: ${MOST_FILES} at most`),
  ];
}
