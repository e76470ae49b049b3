import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { baseNames, buildBases } from './bases.ts';
import { withBuilder } from './builder.ts';
import { kept } from './kept.ts';

interface BaseArchive {
  readonly name: string;
  readonly file: string;
}

/** The stand-ins of the base images as archives: that of the build, then that of the image. They are built where they are missing. */
export async function baseArchives(): Promise<readonly [BaseArchive, BaseArchive]> {
  const { build, runtime } = await baseNames();
  const hash = createHash('sha256').update(process.version + build + runtime);
  for (const file of ['bases.ts', 'packages.ts', 'builder.ts'])
    hash.update(await readFile(join(import.meta.dirname, file)));
  const archives = (folder: string) =>
    [
      { name: build, file: join(folder, 'build.tar') },
      { name: runtime, file: join(folder, 'runtime.tar') },
    ] as const;
  const folder = await kept('node-bases', hash.digest('hex').slice(0, 16), (unfinished) =>
    withBuilder(async (builder, scratch) => {
      await buildBases(builder, scratch);
      for (const { name, file } of archives(unfinished)) await builder.save(name, file);
    }),
  );
  return archives(folder);
}
