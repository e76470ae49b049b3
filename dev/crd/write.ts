import { writeFileSync } from 'node:fs';
import { generatedFiles } from './files.ts';

/** Writes the files that are generated from src/accounts/schema. */
const root = new URL('../../', import.meta.url);

for (const [path, text] of generatedFiles()) writeFileSync(new URL(path, root), text);
