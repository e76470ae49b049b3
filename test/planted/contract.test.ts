import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { type Outcome, PROJECT, runVitest } from './vitest-run.ts';

// biome-ignore lint/suspicious/noExplicitAny: the description is changed in places that each fault knows
type Description = any;

interface Fault {
  plant(description: Description): void;
  /** The test that is there to see it; others may fail with it. */
  readonly seenBy: string;
}

const NODES = '/kapis/resources.gatehouse.io/v1alpha3/nodes';

const FAULTS: Readonly<Record<string, Fault>> = {
  'a served path is not described': {
    plant: ({ paths }) => delete paths['/kapis/version'],
    seenBy: 'the description of the platform describes every registered method and path, and no other',
  },
  'a described path is not served': {
    plant: ({ paths }) => {
      paths['/kapis/unknown'] = paths['/kapis/version'];
    },
    seenBy: 'the description of the platform describes every registered method and path, and no other',
  },
  'a status is not described': {
    plant: ({ paths }) => delete paths[`${NODES}/{name}`].get.responses['404'],
    seenBy: 'GET /kapis/resources.gatehouse.io/v1alpha3/nodes/{name} refuses as described',
  },
  'a member has another type': {
    plant: ({ components }) => {
      components.schemas.Version.properties.gitVersion = { type: 'integer' };
    },
    seenBy: 'GET /kapis/version answers as described',
  },
  'a header that is never sent is described': {
    plant: ({ paths }) => {
      paths['/oauth/keys'].get.responses['200'].headers['X-Never'] = { schema: { type: 'string' } };
    },
    seenBy: 'GET /oauth/keys answers as described',
  },
  'a protected path is called public': {
    plant: ({ paths }) => {
      paths[NODES].get.security = [];
    },
    seenBy: 'the description of the platform says of each operation whether it is public as the route table does',
  },
  'a query parameter is not described': {
    plant: ({ paths }) => {
      paths[NODES].get.parameters = paths[NODES].get.parameters.filter(
        ({ $ref }: Description) => !$ref.endsWith('/Alias'),
      );
    },
    seenBy: 'the description of the platform describes exactly the parameters that the node list and its watch read',
  },
};

const RUNS_MS = 900_000;

/** A run that asked nothing would find nothing as well. */
const FEWEST_TESTS = 80;

describe('the contract test of the description', () => {
  const outcomes = new Map<string, Outcome>();
  beforeAll(async () => {
    const runs = Object.entries(FAULTS).map(async ([name, { plant }]) => outcomes.set(name, await runWith(plant)));
    await Promise.all(runs);
  }, RUNS_MS);

  test('passes on the description as it is, in the way that the faults are planted', async () => {
    const { passed, failed } = await runWith(() => {});
    expect(failed).toEqual([]);
    expect(passed).toBeGreaterThan(FEWEST_TESTS);
  });

  test.each(Object.entries(FAULTS))('fails where it should when %s', (name, { seenBy }) => {
    expect(outcomes.get(name)?.failed).toContain(seenBy);
  });
});

/** The test reads the description from the folder that it is started in: here that is one with a planted description. */
async function runWith(plant: Fault['plant']): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-planted-'));
  const file = join('api', 'platform.openapi.yaml');
  try {
    const description = parse(readFileSync(join(PROJECT, file), 'utf8'), { maxAliasCount: -1 });
    plant(description);
    mkdirSync(join(folder, 'api'));
    writeFileSync(join(folder, file), stringify(description, { aliasDuplicateObjects: false }));
    return await runVitest(['--root', PROJECT, '--project', 'contract', 'test/contract/openapi.test.ts'], {
      cwd: folder,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
