import type { PageFiles } from '../../src/http/page/page-files.ts';

const SCRIPT = `export const words = ${JSON.stringify(Array.from({ length: 400 }, (_, at) => `word ${at}`))};\n`;

/** A page with a file of each sort: long enough to be compressed, too short, and compressed in itself. */
export const madeUpPage: PageFiles = new Map(
  Object.entries({
    'index.html': `<!doctype html>\n<title>Page</title>\n${'<p>Nothing of a person.</p>\n'.repeat(80)}<script type="module" src="/assets/main-abc123.js"></script>\n`,
    'assets/main-abc123.js': SCRIPT,
    'assets/main-abc123.css': 'body { margin: 0 }\n',
    'assets/mark-abc123.png': 'not a real image, and longer than what is compressed. '.repeat(40),
  }).map(([path, text]) => [path, Buffer.from(text)]),
);
