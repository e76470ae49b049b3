import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { notesOf } from '../../dev/release/notes.ts';
import { provenance } from '../../dev/release/provenance.ts';
import { type Named, versionProblems } from '../../dev/release/version.ts';

const CHANGELOG = `# Changelog

## [Unreleased]

### Added

- not yet

## [1.2.3] - 2026-11-30

### Added

- one
- two ## that is no heading

### Fixed

- three

## [1.2.2] - 2026-11-01

- older

## [1.2.1]

[1.2.3]: https://example.com/compare/v1.2.2...v1.2.3
`;

describe('the notes of a release', () => {
  test('are the section of its version, without the heading and what follows', () => {
    expect(notesOf(CHANGELOG, '1.2.3')).toBe('### Added\n\n- one\n- two ## that is no heading\n\n### Fixed\n\n- three');
  });

  test('are missing for a version without a section, with an empty one, and one that only begins alike', () => {
    expect(['1.2.4', '1.2.1', '1.2'].map((version) => notesOf(CHANGELOG, version))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('a tag', () => {
  const chart = {
    version: '1.2.3',
    appVersion: '1.2.3',
    annotations: { 'artifacthub.io/images': '- name: gatehouse\n  image: ghcr.io/gatehouse/gatehouse:1.2.3\n' },
  };
  const good: Named = { tag: 'v1.2.3', manifest: { version: '1.2.3' }, chart, changelog: CHANGELOG };

  test('may be released if program, chart and changelog name its version', () => {
    expect(versionProblems(good)).toEqual([]);
  });

  test.each<[string, Partial<Named>]>([
    ['version in package.json is 1.2.4, the tag says 1.2.3', { manifest: { version: '1.2.4' } }],
    ['version in Chart.yaml is 1.2.2, the tag says 1.2.3', { chart: { ...chart, version: '1.2.2' } }],
    ['appVersion in Chart.yaml is 1.2.2, the tag says 1.2.3', { chart: { ...chart, appVersion: '1.2.2' } }],
    [
      'the image in the annotations of Chart.yaml is missing, the tag says 1.2.3',
      { chart: { ...chart, annotations: {} } },
    ],
    ['CHANGELOG.md has no section [1.2.3] with a text', { changelog: '## [Unreleased]\n\n- one\n' }],
  ])('is refused: %s', (problem, change) => {
    expect(versionProblems({ ...good, ...change })).toEqual([problem]);
  });

  test('is refused for every problem at once', () => {
    expect(versionProblems({ ...good, tag: 'v2.0.0' })).toHaveLength(5);
  });

  test('is refused if it is no version', () => {
    for (const tag of ['1.2.3', 'v1.2', 'latest', ''])
      expect(versionProblems({ ...good, tag })).toEqual([`the tag ${tag} is not a version with a v before it`]);
  });
});

describe('the provenance', () => {
  const run = {
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_REPOSITORY: 'a/b',
    GITHUB_REPOSITORY_ID: '7',
    GITHUB_WORKFLOW_REF: 'a/b/.github/workflows/release.yml@refs/tags/v1.2.3',
    GITHUB_REF: 'refs/tags/v1.2.3',
    GITHUB_EVENT_NAME: 'push',
    GITHUB_SHA: 'c'.repeat(40),
    GITHUB_RUN_ID: '8',
    GITHUB_RUN_ATTEMPT: '2',
  };

  test('names the commit, the workflow and the run', () => {
    expect(provenance(run)).toEqual({
      buildDefinition: {
        buildType: 'https://actions.github.io/buildtypes/workflow/v1',
        externalParameters: {
          workflow: {
            ref: 'refs/tags/v1.2.3',
            repository: 'https://github.com/a/b',
            path: '.github/workflows/release.yml',
          },
        },
        internalParameters: { github: { event_name: 'push', repository_id: '7' } },
        resolvedDependencies: [
          { uri: 'git+https://github.com/a/b@refs/tags/v1.2.3', digest: { gitCommit: 'c'.repeat(40) } },
        ],
      },
      runDetails: {
        builder: { id: 'https://github.com/a/b/.github/workflows/release.yml@refs/tags/v1.2.3' },
        metadata: { invocationId: 'https://github.com/a/b/actions/runs/8/attempts/2' },
      },
    });
  });

  test('is not made up where something is not known', () => {
    expect(() => provenance({ ...run, GITHUB_SHA: undefined })).toThrow(
      'GITHUB_SHA is not set: a release is made by its workflow',
    );
  });
});

describe('the workflows', () => {
  const workflows = globSync('.github/workflows/*.yml', { cwd: new URL('../../', import.meta.url) }).map((file) =>
    readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'),
  );

  test('use actions by commit only', () => {
    const used = workflows.flatMap((text) => [...text.matchAll(/uses: (.*)$/gm)].map(([, action]) => action!));
    expect(used.length).toBeGreaterThan(1);
    expect(used.filter((action) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v[\d.]+$/.test(action))).toEqual([]);
  });

  test('may read, and only the job that releases may do more', () => {
    expect(workflows.filter((text) => !/^permissions:\n {2}contents: read$/m.test(text))).toEqual([]);
  });
});
