import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

/** A package that is in the image, whole or in part. */
export interface Package {
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  /** As SPDX writes it. */
  readonly license: string;
  /** Its licence and notice files. A few packages have none. */
  readonly licenseTexts: readonly string[];
  /** Of the archive in the registry, as the lock file has it. */
  readonly integrity: string;
  /** The folders of those that it needs, in the image or not. */
  readonly needs: readonly string[];
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  readonly license?: string;
  readonly engines?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));

/** The folders of the packages that these files are part of, once each. A file of ours is part of none. */
export const packageFolders = (files: readonly string[]): string[] => [
  ...new Set(files.flatMap((file) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? [])),
];

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
}

/** By their paths from the project's folder. */
export const lockedPackages = (root: string): Readonly<Record<string, Locked>> =>
  (readJson(join(root, 'package-lock.json')) as { packages: Record<string, Locked> }).packages;

/**
 * Reads the packages in these folders below `modules`, which stands for the project's own `node_modules`. Throws where one has no
 * licence or is not in the lock file.
 */
export function readPackages(
  folders: readonly string[],
  { root, modules }: { root: string; modules: string },
): Package[] {
  const locked = lockedPackages(root);
  return folders.map((folder): Package => {
    const { name, version, description, license, dependencies, optionalDependencies } = manifestOf(folder);
    const { integrity } = locked[join('node_modules', relative(modules, folder))] ?? {};
    if (!license || !integrity) throw new Error(`${name} has no licence, or the lock file does not have it`);
    return {
      folder,
      name,
      version,
      ...(description && { description }),
      license,
      licenseTexts: licenseFiles(folder).map((file) => readFileSync(file, 'utf8').trim()),
      integrity,
      needs: neededFolders(folder, { ...dependencies, ...optionalDependencies }),
    };
  });
}

/** Where Node.js would find the packages that the one in this folder names. */
export function neededFolders(folder: string, names: Readonly<Record<string, string>>): string[] {
  return Object.keys(names).flatMap((name) => {
    for (let from = folder; from !== dirname(from); from = dirname(from)) {
      const found = join(from, 'node_modules', name);
      if (basename(from) !== 'node_modules' && existsSync(found)) return [found];
    }
    return [];
  });
}

export const manifestOf = (folder: string): Manifest => readJson(join(folder, 'package.json')) as Manifest;

const licenseFiles = (folder: string): string[] =>
  globSync(['{LICENSE,LICENCE,license,License,NOTICE,COPYING}*'], { cwd: folder })
    .toSorted()
    .map((file) => join(folder, file));
