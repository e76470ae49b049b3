import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEnd } from '../support/at-end.ts';

/** A folder that is removed at the end of the test. `write` writes a file in it and returns its path. */
export function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-files-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  return { folder, write };
}
