import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { type ImportedConfig, importConfig } from './import-config.ts';

interface ImportCommandParts {
  /** Writes text to standard output. */
  print(text: string): void;
  /** Writes a line to standard error. */
  complain(line: string): void;
  readFile(path: string): string;
  readStandardInput(): Promise<Buffer>;
}

/** The old file cannot be read, or a file with a secret cannot be written. */
class ImportError extends Error {
  override readonly name = 'ImportError';
}

/** The request of the command line. */
interface ImportRequest {
  /** `-` for standard input. */
  readonly file: string;
  readonly secrets?: string;
  readonly chart?: boolean;
}

/**
 * Prints a configuration made from an old one, or with `chart` values of the Helm chart. Secrets are written into files of the directory `secrets`
 * that only their owner may read; a file that exists is never overwritten. Throws an `ImportError`, and prints nothing then.
 */
export async function runImportCommand(
  { file, secrets, chart: forChart }: ImportRequest,
  { print, complain, readFile, readStandardInput }: ImportCommandParts,
): Promise<void> {
  const text = file === '-' ? (await readStandardInput()).toString() : readOld(file, readFile);
  const secretsFolder = secrets === undefined ? undefined : resolve(secrets);
  const imported = importConfig(text, { secretsFolder, forChart, readFile });
  if ('fault' in imported) throw new ImportError(`${file === '-' ? 'standard input' : file}: ${imported.fault}`);
  if (secretsFolder !== undefined) {
    // The values of the chart name where the pod has the files.
    const files = imported.files.map(({ path, content }) => ({ path: join(secretsFolder, basename(path)), content }));
    writeSecrets(secretsFolder, files);
    for (const { path } of files) complain(`wrote ${path}`);
  }
  print(imported.text);
}

function readOld(file: string, readFile: ImportCommandParts['readFile']): string {
  try {
    return readFile(file);
  } catch (error) {
    throw new ImportError(`cannot read the file: ${(error as Error).message}`);
  }
}

function writeSecrets(folder: string, files: ImportedConfig['files']): void {
  if (files.length === 0) return;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const { path, content } of files) writeFileSync(path, content, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw new ImportError(`cannot write a file with a secret: ${(error as Error).message}`);
  }
}
