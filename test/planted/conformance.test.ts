import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { FAULTS } from '../support/planted/faults.ts';
import { type Outcome, PROJECT, runVitest } from './vitest-run.ts';

/** Where the suite stands that is run with faults; it has no configuration of ours and is in no tier. */
const PLANTED = join(PROJECT, 'test', 'support', 'planted');

/** The tests that see each fault: these fail, and no others. */
const SEEN_BY: Readonly<Record<string, readonly string[]>> = {
  nothing: [],
  'a conflict is answered 400': [
    'creation refuses a name that is taken',
    'an update at an older version is refused',
    'an update by merge patch with an older version is refused',
    'a patch that applies over what another manages is a conflict, unless it is forced',
    'a patch that applies names all conflicts, by manager',
    'a deletion with another uid as precondition is refused',
    'a deletion with another version as precondition is refused',
    'a Secret changes by compare-and-swap on its version',
    'a Lease changes its holder by compare-and-swap on its version',
    'a custom resource is not updated at an older version, nor as another object of its name',
    'a custom resource by merge patch of its status with an older version is refused',
    'a dry run of a creation is refused where the name is taken',
    'a dry run of an update is refused at an older version',
    'a dry run of a deletion checks that there is such an object, in that state',
  ],
  'a page does not count what remains': [
    'pages of a list follow each other by continue, count what remains, and end without both',
    'a list at a resourceVersion with NotOlderThan is the newest, and pages of it follow each other',
  ],
  'a bookmark does not say that the state is complete': [
    'a WatchList sends the state, a bookmark that says so, then what happens',
    'a WatchList has the bookmark alone where nothing is selected',
  ],
  'an expired version has another reason': [
    'an expired version ends a watch with an ERROR event 410 under HTTP 200',
    'an expired version in a continue token is 410 with a token to go on inconsistently',
    "an expired version in an exact list is 410: { resourceVersionMatch: 'Exact' }",
    'an expired version in an exact list is 410: { limit: 1 }',
  ],
  'a deletion carries the version before it': [
    'a watch has objects with kind and apiVersion, whose versions rise, also at a deletion',
    'a watch tells an object that leaves the selector as DELETED, in its old state at the new version',
  ],
  'everybody may do everything': [
    'a SubjectAccessReview allows a stranger nothing: allowed is false, denied is not set',
    'a SubjectAccessReview judges paths',
    'a SubjectAccessReview follows ClusterRoles and their bindings, and gives the binding as reason',
  ],
  'a dry run is stored': [
    'a dry run of a creation answers an object without a version, and stores none',
    'a dry run of an update answers what would be stored',
    'a dry run of a patch answers what would be stored',
    'a dry run of a deletion removes nothing, asked for in the query or in the options',
  ],
  'an impersonated user has no groups': [
    'impersonation has it judged by his groups, among them that of all who are known',
    'impersonation of a group needs a right of its own, and each right may be limited by name',
    'impersonation tells the other who he is, with what was said of him',
    "impersonation without a user is an error: { 'impersonate-group': [ 'a', 'b' ] }",
    'a writer of roles and bindings in system:masters binds what he wants',
    'a writer of roles and bindings makes no role with a right that he lacks',
  ],
};

/** A suite that found nothing because it asked nothing would pass as well. */
const FEWEST_TESTS = 100;

/** Most of it is waiting, so all runs go at once. */
const RUNS_MS = 900_000;

describe('the conformance suite', () => {
  const outcomes = new Map<string, Outcome>();
  beforeAll(async () => {
    const runs = Object.keys(FAULTS).map(async (fault) =>
      outcomes.set(
        fault,
        await runVitest(['--root', PLANTED, '--testTimeout=15000', '--hookTimeout=120000'], {
          env: { PLANTED_FAULT: fault },
        }),
      ),
    );
    await Promise.all(runs);
  }, RUNS_MS);

  test('has an expectation for each fault that can be planted', () => {
    expect(Object.keys(SEEN_BY).sort()).toEqual(Object.keys(FAULTS).sort());
  });

  test.each(Object.keys(SEEN_BY))('fails where it should when this is wrong: %s', (fault) => {
    const { passed, failed } = outcomes.get(fault) ?? { passed: 0, failed: [] };
    expect(failed).toEqual((SEEN_BY[fault] ?? []).map((title) => `${fault} ${title}`).sort());
    expect(passed).toBeGreaterThan(FEWEST_TESTS);
  });
});
