import type { TestProject } from 'vitest/node';
import { makeImageApp } from './image-app.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The arguments of Node.js that start the program as the image does. */
    readonly program: readonly string[];
  }
}

/** Builds the program once for all test files. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { program, remove } = await makeImageApp();
  project.provide('program', program);
  return remove;
}
