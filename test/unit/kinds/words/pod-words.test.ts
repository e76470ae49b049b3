import { describe, expect, test } from 'vitest';
import { listing, object } from './worded-kind.ts';

const pod = (key: string, { node = '', phase = 'Running', claims = [] as string[], labels = {}, status = {} } = {}) =>
  object(
    key,
    {
      spec: {
        ...(node !== '' && { nodeName: node }),
        volumes: [
          { name: 'tmp', emptyDir: {} },
          ...claims.map((claimName) => ({ persistentVolumeClaim: { claimName } })),
        ],
      },
      status: { phase, ...status },
    },
    { labels },
  );

describe('the filters of pods', () => {
  test('nodeName and pvcName are exact; an empty nodeName finds pods without a node', () => {
    const { put, keys } = listing('pods.');
    put(pod('a/one', { node: 'n1', claims: ['data', 'logs'] }), pod('a/two', { node: 'n2' }), pod('b/three'));
    expect(keys('nodeName=n1')).toBe('a/one');
    expect(keys('nodeName=n')).toBe('');
    expect(keys('nodeName=')).toBe('b/three');
    expect([keys('pvcName=logs'), keys('pvcName=log'), keys('pvcName=')]).toEqual(['a/one', '', '']);
  });
});
