import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

interface LockedPackage {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly optional?: boolean;
  readonly link?: boolean;
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  readonly version?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const read = (name: string): unknown => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'));
const manifest = read('package.json') as Record<'dependencies' | 'devDependencies', Record<string, string>>;
const lock = read('package-lock.json') as { packages: Record<string, LockedPackage> };
const locked = Object.entries(lock.packages).filter(([path, one]) => path.startsWith('node_modules/') && !one.link);
const production = locked.filter(([, one]) => !one.dev && !one.devOptional);

/** express 5 and @kubernetes/client-node 2 bring 68 packages each: see docs/decisions/0003. The count must not grow. */
const MOST_PRODUCTION_PACKAGES = 138;

describe('the packages', () => {
  test('are pinned exactly where they are named', () => {
    const named = { ...manifest.dependencies, ...manifest.devDependencies };
    expect(Object.values(named).filter((version) => !/^(\d+\.\d+\.\d+|file:dev\/node)$/.test(version))).toEqual([]);
  });

  test('each have an integrity in the lock file', () => {
    expect(locked.filter(([, one]) => !one.integrity).map(([path]) => path)).toEqual([]);
  });

  test('are in the lock file for every platform, or a clean install would refuse it', () => {
    const optional = locked.flatMap(([, one]) => Object.keys(one.optionalDependencies ?? {}));
    expect(optional.filter((name) => !lock.packages[`node_modules/${name}`])).toEqual([]);
  });

  test('run no install script', () => {
    expect(locked.filter(([, one]) => one.hasInstallScript).map(([path]) => path)).toEqual([]);
  });

  test('of production are few', () => {
    expect(Object.keys(manifest.dependencies).length).toBeLessThanOrEqual(12);
    expect(production.filter(([, one]) => !one.optional).length).toBeLessThanOrEqual(MOST_PRODUCTION_PACKAGES);
  });

  test('hold no undici that poisons answers or stalls', () => {
    const version = lock.packages['node_modules/undici']?.version ?? '';
    const [major = 0, minor = 0] = version.split('.').map(Number);
    const stalls = major === 8 && minor >= 8 && minor <= 10;
    expect(major === 8 && minor >= 5 && !stalls, version).toBe(true);
  });
});
