import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, extname, isAbsolute, join } from 'node:path';
import { type OutputChunk, rolldown } from 'rolldown';

export interface BuiltPage {
  /** By their paths below the folder of the page: `index.html`, and what it loads, below `assets/`. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** The paths of all modules that its scripts were made from, those of packages among them. */
  readonly modules: readonly string[];
}

/** What the page is made of, in the folder of its sources. */
const ENTRY = 'main.tsx';
const STATIC = ['style.css', 'icon.svg'] as const;

/**
 * Builds the page from `<root>/web`. The names of its files but `index.html` contain a digest of their content, so that a browser may
 * keep them for ever.
 */
export async function buildPage(root: string): Promise<BuiltPage> {
  const sources = join(root, 'web');
  const files = new Map<string, Uint8Array>();
  const places = new Map<string, string>();
  const scripts = await bundleScripts(sources);
  for (const { fileName, code } of scripts) files.set(fileName, Buffer.from(code));
  const main = scripts.find(({ isEntry }) => isEntry);
  places.set('main.js', main?.fileName ?? '');
  for (const name of STATIC) {
    const content = await readFile(join(sources, name));
    const extension = extname(name);
    const digest = createHash('sha256').update(content).digest('base64url').slice(0, 8);
    const path = `assets/${name.slice(0, -extension.length)}-${digest}${extension}`;
    files.set(path, content);
    places.set(name, path);
  }
  const index = await readFile(join(sources, 'index.html'), 'utf8');
  const preloads = (main?.imports ?? []).map((path) => `<link rel="modulepreload" href="/${path}" />`).join('');
  files.set('index.html', Buffer.from(withPlaces(index.replace('<!--preloads-->', preloads), places)));
  return { files, modules: scripts.flatMap(({ moduleIds }) => moduleIds).filter(isAbsolute) };
}

/** Puts the addresses of the files where the text has their names between percent signs. */
const withPlaces = (text: string, places: ReadonlyMap<string, string>): string =>
  text.replaceAll(/%([\w.]+)%/g, (_, name: string) => {
    const path = places.get(name);
    if (!path) throw new Error(`index.html: there is no file ${name}`);
    return `/${path}`;
  });

async function bundleScripts(sources: string): Promise<readonly OutputChunk[]> {
  const bundled = await rolldown({
    input: { main: join(sources, ENTRY) },
    cwd: sources,
    platform: 'browser',
    // The image is built without the file for the type checker.
    tsconfig: false,
    transform: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    onLog: (level, log) => {
      if (level === 'warn') throw new Error(`the bundler warns: ${log.message}`);
    },
  });
  try {
    const { output } = await bundled.generate({
      format: 'esm',
      minify: true,
      comments: false,
      entryFileNames: 'assets/[name]-[hash].js',
      chunkFileNames: 'assets/[name]-[hash].js',
    });
    return output.filter((part): part is OutputChunk => part.type === 'chunk');
  } finally {
    await bundled.close();
  }
}

/** Writes the files of a page into the folder, which need not exist. */
export async function writePage({ files }: BuiltPage, folder: string): Promise<void> {
  for (const [path, content] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

/** Makes the page alone, in `<root>/dist/page`, where a program that runs from its sources looks for it. */
export async function makePageOfSources(root: string): Promise<void> {
  const folder = join(root, 'dist', 'page');
  const page = await buildPage(root);
  await rm(folder, { recursive: true, force: true });
  await writePage(page, folder);
}
