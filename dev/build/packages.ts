import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';

/** A package that is in the image, whole or in part. */
export interface Package {
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  /** The SPDX expression. */
  readonly license: string;
  /** Its licence and notice files. A few packages have none. */
  readonly licenseTexts: readonly string[];
  /** The digest of its archive in the registry, from the lock file. */
  readonly integrity: string;
  /** The folders of the packages that it needs, also of those that are not in the image. */
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

/** The folders of the packages that these files are part of, once each. Our own files belong to no package. */
export const packageFolders = (files: readonly string[]): string[] => [
  ...new Set(files.flatMap((file) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? [])),
];

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
}

/** The packages of the lock file, by the paths of their folders in the project. */
export const lockedPackages = (root: string): Readonly<Record<string, Locked>> =>
  (readJson(join(root, 'package-lock.json')) as { packages: Record<string, Locked> }).packages;

/**
 * Reads the packages in these folders below `modules`, which has the layout of the project's own `node_modules`. Throws if a package
 * has no licence or is not in the lock file.
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

/** The folders in which Node.js finds the packages `names` when the package in `folder` imports them. */
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
