/** How long the browser may take to read a file that it was given. */
const READ_MS = 60_000;

/** Gives the reader a file of this name to keep. It never leaves the browser. */
export function saveFile(name: string, parts: BlobPart[]): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob(parts, { type: 'text/plain;charset=utf-8' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), READ_MS);
}

/** A name for a file of logs: what it is about and when it was saved, without characters that file systems do not take. */
export const fileName = (about: string, now: Date): string =>
  `${about.replaceAll(/[^\w.-]+/g, '-').slice(0, 100)}-${now.toISOString().slice(0, 19).replaceAll(':', '')}Z.log`;
