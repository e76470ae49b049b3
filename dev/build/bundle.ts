import { isAbsolute } from 'node:path';
import { type OutputChunk, rolldown } from 'rolldown';
import { builtinsOnDemand } from './builtins-on-demand.ts';

interface BundleOptions {
  readonly root: string;
  /** The path of the module that is run, relative to `root`. */
  readonly entry: string;
  readonly folder: string;
  /** Packages that are not bundled. */
  readonly external: readonly string[];
  /** Whether everything goes into `main.js`, without a source map: for a program that is inside another file. */
  readonly isSingle?: boolean;
  /** Whether people wait for its start, so that modules of Node are loaded only when they are needed. */
  readonly startsFast?: boolean;
}

/**
 * Writes the program into the folder: `main.js`, and a file for each part that it loads only when it needs it. Each has a source map
 * beside it, which names the lines of the sources but does not contain them. Resolves to all files that the program was made from.
 */
export async function bundle({
  root,
  entry,
  folder,
  external,
  isSingle = false,
  startsFast = false,
}: BundleOptions): Promise<readonly string[]> {
  const program = await rolldown({
    input: { main: `${root}/${entry}` },
    cwd: root,
    platform: 'node',
    external: [...external],
    plugins: startsFast ? [builtinsOnDemand] : [],
    tsconfig: false,
    onLog: (level, log) => {
      if (level === 'warn') throw new Error(`the bundler warns: ${log.message}`);
    },
  });
  try {
    const { output } = await program.write({
      dir: folder,
      format: 'esm',
      chunkFileNames: '[name].js',
      codeSplitting: !isSingle,
      sourcemap: !isSingle,
      sourcemapExcludeSources: true,
      // The texts of licences are in a file of their own.
      comments: false,
    });
    const chunks = output.filter((part): part is OutputChunk => part.type === 'chunk');
    return chunks.flatMap(({ moduleIds }) => moduleIds).filter(isAbsolute);
  } finally {
    await program.close();
  }
}
