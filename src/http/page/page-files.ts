/** The files of the built page by their paths below its folder: `index.html`, and `assets/<name>-<hash>.<extension>` for all others. */
export type PageFiles = ReadonlyMap<string, Uint8Array>;

/** The file that every view of the page begins with. */
export const INDEX = 'index.html';
/** All other files are in this folder. Their names change with their content. */
export const ASSETS = 'assets/';
