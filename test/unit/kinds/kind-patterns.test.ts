import { describe, expect, test } from 'vitest';
import { matches } from '../../../src/kinds/kind-patterns.ts';

const PODS = { resource: 'pods', group: '' };
const POD_METRICS = { resource: 'pods', group: 'metrics.k8s.io' };
const CERTIFICATES = { resource: 'certificates', group: 'cert-manager.io' };

describe('a pattern of kinds', () => {
  test.each([
    ['*', PODS, POD_METRICS, CERTIFICATES],
    ['*.*', PODS, POD_METRICS, CERTIFICATES],
    ['pods.', PODS],
    ['pods.*', PODS, POD_METRICS],
    ['*.', PODS],
    ['*.metrics.k8s.io', POD_METRICS],
    ['certificates.cert-manager.io', CERTIFICATES],
  ])('%s names exactly these kinds', (pattern, ...kinds) => {
    const named = [PODS, POD_METRICS, CERTIFICATES].filter((kind) => matches([pattern], kind));
    expect(named).toEqual(kinds);
  });

  test.each([
    ['does not name the core group by a plural alone', 'pods', PODS],
    ['names a group as a whole: not those below it', '*.k8s.io', POD_METRICS],
    ['names a group as a whole: not by its beginning', '*.metrics', POD_METRICS],
    ['names a plural as a whole', 'pod.', PODS],
    ['is no regular expression', 'certificates.cert-manager.i.', CERTIFICATES],
    ['has no star inside a side', 'cert*.cert-manager.io', CERTIFICATES],
    ['is in lower case, as plurals and groups are', 'Pods.', PODS],
  ])('%s', (_, pattern, kind) => {
    expect(matches([pattern], kind)).toBe(false);
  });

  test('one of several is enough, and none names nothing', () => {
    expect(matches(['*.example.com', 'pods.'], PODS)).toBe(true);
    expect(matches(['*.example.com', 'deployments.apps'], PODS)).toBe(false);
    expect(matches([], PODS)).toBe(false);
  });
});
