import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, test } from 'vitest';
import { behindImports, exampleOf } from '../../support/comment-example.ts';

const { dirname } = import.meta;

/** The interfaces that a newcomer implements or calls, each with the module of this folder that is its example. */
const EXAMPLES = [
  { type: 'Clock', file: 'src/runtime/clock.ts', module: 'clock.ts', run: () => import('./clock.ts') },
  { type: 'Kind', file: 'src/resources/entries/kind.ts', module: 'kind.ts', run: () => import('./kind.ts') },
  { type: 'Lister', file: 'src/resources/cache.ts', module: 'lister.ts', run: () => import('./lister.ts') },
  {
    type: 'DocumentStore',
    file: 'src/documents/store/document-store.ts',
    module: 'log-store.ts',
    run: () => import('./log-store.ts'),
  },
  { type: 'Grant', file: 'src/oauth/endpoints/grant.ts', module: 'grant.ts', run: () => import('./grant.ts') },
  { type: 'Family', file: 'src/service/family.ts', module: 'family.ts', run: () => import('./family.ts') },
  {
    type: 'RouteFamily',
    file: 'src/http/family.ts',
    module: 'route-family.ts',
    run: () => import('./route-family.ts'),
  },
  {
    type: 'Authorizer',
    file: 'src/authorization/authorizer.ts',
    module: 'authorizer.ts',
    run: () => import('./authorizer.ts'),
  },
  {
    type: 'UserSource',
    file: 'src/users/user-directory.ts',
    module: 'user-source.ts',
    run: () => import('./user-source.ts'),
  },
  {
    type: 'SecretStore',
    file: 'src/secret-store.ts',
    module: 'secret-store.ts',
    run: () => import('./secret-store.ts'),
  },
];

const MOST_LINES = 15;

const textOf = (file: string): string => readFileSync(file, 'utf8');
const written = (module: string): string => behindImports(textOf(`${dirname}/${module}`));

describe.each(EXAMPLES)('the example of $type', ({ type, file, module, run }) => {
  test('stands in its comment as it stands in the module that is run', () => {
    expect(exampleOf(type, textOf(file))).toBe(written(module));
  });

  test('is short, and asserts what it shows', () => {
    expect(written(module).match(/^.+$/gm)?.length).toBeLessThanOrEqual(MOST_LINES);
    expect(written(module)).toContain('assert.');
  });

  test('does what it says', async () => {
    await run();
  });
});

describe('an example', () => {
  test('in a comment of src is one of these', () => {
    const found = globSync('src/**/*.ts').flatMap(
      (file) =>
        textOf(file)
          .match(/^ *\* @example$/gm)
          ?.map(() => file) ?? [],
    );
    expect(found.sort()).toEqual(EXAMPLES.map(({ file }) => file).sort());
  });

  test('in this folder is one of these', () => {
    const modules = globSync(`${dirname}/*.ts`).map((file) => basename(file));
    expect(modules.sort()).toEqual([...EXAMPLES.map(({ module }) => module), 'examples.test.ts'].sort());
  });

  const CLOCK =
    '/** Time. */\nexport type Time = number;\n\n/**\n * Ticks.\n * @example\n * ```ts\n * tick();\n *\n *   tock();\n * ```\n */\nexport interface Clock {}';

  test('is read from the comment of its own type', () => {
    expect(exampleOf('Clock', CLOCK)).toBe('tick();\n\n  tock();');
    expect(exampleOf('Time', CLOCK)).toBeUndefined();
  });

  test('begins behind the imports', () => {
    expect(behindImports("import {\n  a,\n} from 'a';\nimport 'b';\n\na();\n")).toBe('a();');
  });
});
