import { describe, expect, test } from 'vitest';
import { toRelease, toRuntime } from '../../src/service/versions.ts';

describe('the release', () => {
  test('is what the build wrote down', () => {
    const build = { gitCommit: 'a'.repeat(40), gitTreeState: 'clean', buildDate: '2026-11-01T10:00:00Z' };
    expect(toRelease('{"version":"0.4.0"}', JSON.stringify(build))).toEqual({ version: '0.4.0', ...build });
  });

  test('says unknown in a checkout', () => {
    expect(toRelease('{"version":"0.4.0"}', undefined)).toEqual({
      version: '0.4.0',
      gitCommit: 'unknown',
      gitTreeState: 'unknown',
      buildDate: '1970-01-01T00:00:00Z',
    });
  });
});

describe('the runtime', () => {
  test.each([
    ['linux', 'x64', 'linux/amd64'],
    ['linux', 'arm64', 'linux/arm64'],
    ['win32', 'x64', 'windows/amd64'],
  ])('of %s on %s is %s, as Kubernetes names it', (platform, arch, name) => {
    expect(toRuntime({ version: 'v26.10.0', platform, arch })).toEqual({ nodeVersion: 'v26.10.0', platform: name });
  });
});
