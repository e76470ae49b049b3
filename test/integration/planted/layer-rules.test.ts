import { readdirSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Finding, lintPlanted } from './lint-run.ts';

/** The import rules of ARCHITECTURE.md: what of ours each folder may import, as `folder` or `folder/file.ts`. */
const MAY: Readonly<Record<string, readonly string[]>> = {
  config: [],
  kubernetes: ['observability/logger.ts'],
  nodes: ['kubernetes', 'observability'],
  users: ['observability'],
  oauth: ['users/user.ts', 'users/sign-in.ts', 'observability/logger.ts'],
  authentication: ['oauth', 'observability'],
  authorization: ['kubernetes', 'observability'],
  http: ['oauth', 'users', 'authorization', 'nodes', 'observability'],
  observability: [],
};
const FOLDERS = Object.keys(MAY);

/** The folders that may import a library. */
const HOMES: Readonly<Record<string, readonly string[]>> = {
  express: ['http'],
  jose: ['oauth'],
  '@kubernetes/client-node': ['kubernetes'],
  undici: ['kubernetes'],
  zod: ['config', 'users'],
  yaml: ['config', 'users', 'kubernetes'],
  pino: ['observability'],
  '@node-rs/bcrypt': ['users'],
};

/** Files beside the folders: what each folder may import, and what composes the folders. */
const LOW = [
  'backoff.ts',
  'boolean-word.ts',
  'bounded-calls.ts',
  'call-pause.ts',
  'caller-token.ts',
  'clock.ts',
  'failure-bucket.ts',
  'followed-file.ts',
  'known-good.ts',
  'paced-calls.ts',
  'data-age.ts',
  'duration-text.ts',
  'random.ts',
  'party-windows.ts',
  'fastest-call.ts',
  'secret-store.ts',
  'security-events.ts',
  'fair-slots.ts',
  'call-window.ts',
  'told-lately.ts',
  'status-error.ts',
  'time-slices.ts',
];
const COMPOSITION = [
  'arguments.ts',
  'check-config.ts',
  'cluster-version.ts',
  'keys-arguments.ts',
  'keys-command.ts',
  'main.ts',
  'node-mirror.ts',
  'options.ts',
  'pool-priority.ts',
  'readiness.ts',
  'release.ts',
  'staleness-alarm.ts',
  'run-group.ts',
  'service.ts',
  'session-stores.ts',
  'token-service.ts',
  'user-sources.ts',
];
const BESIDE = ['dev', 'test', 'bench'];

interface Planted {
  readonly from: string;
  readonly specifier: string;
  readonly forbidden: boolean;
}

const plant = (from: string, forbidden: boolean, specifiers: readonly string[]): Planted[] =>
  specifiers.map((specifier) => ({ from, specifier, forbidden }));

function folderPlants(folder: string): Planted[] {
  const from = `src/${folder}/planted.ts`;
  const allowed = MAY[folder] ?? [];
  const others = FOLDERS.filter((other) => other !== folder);
  const foreign = others.filter((other) => !allowed.includes(other));
  const libraries = Object.keys(HOMES);
  const isHome = (library: string): boolean => HOMES[library]?.includes(folder) ?? false;
  return [
    ...plant(
      from,
      true,
      foreign.map((other) => `../${other}/anything.ts`),
    ),
    ...plant(
      from,
      false,
      allowed.map((one) => `../${one.endsWith('.ts') ? one : `${one}/anything.ts`}`),
    ),
    ...plant(
      from,
      true,
      COMPOSITION.map((file) => `../${file}`),
    ),
    ...plant(
      from,
      false,
      LOW.map((file) => `../${file}`),
    ),
    ...plant(
      from,
      true,
      BESIDE.map((one) => `../../${one}/anything.ts`),
    ),
    ...plant(
      from,
      true,
      libraries.filter((library) => !isHome(library)),
    ),
    ...plant(
      from,
      true,
      libraries.filter((library) => !isHome(library)).map((library) => `${library}/deep.js`),
    ),
    ...plant(from, false, libraries.filter(isHome)),
    ...plant(from, false, ['node:http', './metrics.ts']),
  ];
}

const PLANTS: readonly Planted[] = [
  ...FOLDERS.flatMap(folderPlants),
  ...LOW.flatMap((file) => [
    ...plant(
      `src/${file}`,
      true,
      FOLDERS.map((folder) => `./${folder}/anything.ts`),
    ),
    ...plant(
      `src/${file}`,
      true,
      COMPOSITION.map((other) => `./${other}`),
    ),
    ...plant(`src/${file}`, true, [...Object.keys(HOMES), 'prom-client']),
    ...plant(
      `src/${file}`,
      false,
      LOW.filter((other) => other !== file).map((other) => `./${other}`),
    ),
  ]),
  ...COMPOSITION.flatMap((file) => [
    ...plant(
      `src/${file}`,
      false,
      FOLDERS.map((folder) => `./${folder}/anything.ts`),
    ),
    // What the composition root hands to the HTTP part, which may not import it: the parser of the description.
    ...plant(
      `src/${file}`,
      true,
      Object.keys(HOMES).filter((library) => library !== 'yaml'),
    ),
    ...plant(
      `src/${file}`,
      true,
      BESIDE.map((one) => `../${one}/anything.ts`),
    ),
  ]),
];

/** Other ways to write an import; each is forbidden in `src/http`. */
const FORMS = [
  "import type { Config } from '../../config/config.ts';",
  "import { load } from '../../config/load.ts';",
  "import * as load from '../../config/load.ts';",
  "export { load } from '../../config/load.ts';",
  "export * from '../../config/load.ts';",
  "export const later = await import('../../config/load.ts');",
  "import { z } from 'zod';",
  "import type { KubeConfig } from '@kubernetes/client-node';",
  "import { Gauge, type Registry } from 'prom-client';",
  "import prom from 'prom-client';",
  "import * as metrics from 'prom-client';",
  "export { Counter } from 'prom-client';",
  "export const laterToo = await import('prom-client');",
];
const FORMS_FILE = 'src/http/routes/planted.ts';

/** Metrics have a file in each folder; the registry goes everywhere. */
const METRICS = ["import { Gauge, type Registry } from 'prom-client';"];
const TYPES = ["import type { Registry } from 'prom-client';"];

const planted = (): ReadonlyMap<string, readonly string[]> => {
  const files = new Map<string, readonly string[]>();
  for (const { from, specifier } of PLANTS) files.set(from, [...(files.get(from) ?? []), `import '${specifier}';`]);
  for (const folder of FOLDERS) {
    files.set(`src/${folder}/metrics.ts`, METRICS);
    files.set(`src/${folder}/types.ts`, TYPES);
    files.set(`src/${folder}/makes-metrics.ts`, METRICS);
  }
  return files.set(FORMS_FILE, FORMS);
};

describe('the layer rules', () => {
  let files: ReadonlyMap<string, readonly string[]>;
  let findings: readonly Finding[];
  beforeAll(async () => {
    files = planted();
    findings = await lintPlanted(files);
  });

  /** The lines of a file that were found, once for each finding. */
  const found = (path: string): (string | undefined)[] =>
    findings.filter((finding) => finding.path === path).map(({ line }) => files.get(path)?.[line - 1]);

  test('know every folder and every file of src', () => {
    const entries = readdirSync(new URL('../../../src/', import.meta.url));
    expect(entries.sort()).toEqual([...FOLDERS, ...LOW, ...COMPOSITION].sort());
  });

  test.each([...new Set(PLANTS.map(({ from }) => from))])('find each forbidden import of %s once, no other', (from) => {
    const forbidden = PLANTS.filter((one) => one.from === from && one.forbidden);
    expect(forbidden.length).toBeGreaterThan(0);
    expect(found(from).sort()).toEqual(forbidden.map(({ specifier }) => `import '${specifier}';`).sort());
  });

  test('find every way of writing an import', () => {
    expect(found(FORMS_FILE).sort()).toEqual([...FORMS].sort());
  });

  test('let each folder make metrics in its metrics.ts', () => {
    expect(FOLDERS.flatMap((folder) => found(`src/${folder}/metrics.ts`))).toEqual([]);
  });

  test('let each folder take a metric registry', () => {
    expect(FOLDERS.flatMap((folder) => found(`src/${folder}/types.ts`))).toEqual([]);
  });

  test('find metrics made elsewhere, in all folders but observability', () => {
    const makers = FOLDERS.filter((folder) => found(`src/${folder}/makes-metrics.ts`).length === 1);
    expect(makers).toEqual(FOLDERS.filter((folder) => folder !== 'observability'));
  });

  test('say which rule a finding breaks', () => {
    const messages = findings.map(({ message }) => message);
    expect(messages).toContain('src/oauth may not import src/kubernetes: see the import rules in ARCHITECTURE.md.');
    expect(messages).toContain('express is imported in src/http only.');
  });
});
