import { posix } from 'node:path';
import type { Module } from './read.ts';

/** What one reader can hold: a file of one concept, a function seen at once, a folder that is a table of contents. */
const MOST_LINES = 300;
const MOST_FUNCTION_LINES = 60;
const MOST_FILES = 24;

/** The files, functions and folders of these modules that are too large, a sentence each. */
export function tooLarge(modules: readonly Module[]): string[] {
  const long = modules.filter(({ lines }) => lines > MOST_LINES);
  const byFolder = Map.groupBy(modules, ({ file }) => posix.dirname(file));
  const full = [...byFolder].filter(([, files]) => files.length > MOST_FILES);
  return [
    ...long.map(({ file, lines }) => `${file} has ${lines} lines: ${MOST_LINES} at most`),
    ...modules.flatMap(longFunctions),
    ...full.map(([folder, files]) => `${folder} has ${files.length} files: ${MOST_FILES} at most`),
  ];
}

const longFunctions = ({ file, functions }: Module): string[] =>
  functions
    .filter(({ lines }) => lines > MOST_FUNCTION_LINES)
    .map(({ line, lines }) => `${file}:${line} has a function of ${lines} lines: ${MOST_FUNCTION_LINES} at most`);
