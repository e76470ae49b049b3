import { describe, expect, test } from 'vitest';
import { RULES, startWorkload, type WorkloadStand } from './workload-stand.ts';

const answerTo = async (stand: WorkloadStand, path: string, person: 'ada' | 'joe' = 'ada') => {
  const answer = await fetch(stand.url(path), { headers: { authorization: `Bearer ${stand.tokens[person]}` } });
  return { status: answer.status, body: JSON.parse(await answer.text()) };
};

const without = (resource: string): object[] => RULES.filter(({ resources }) => !resources.includes(resource));

describe('G-30 a request for the logs of a workload', () => {
  test('with bad parameters gets one 400 that names them all', async () => {
    const stand = await startWorkload([]);
    const query = 'tailLines=5001&sinceSeconds=0&follow=perhaps&container=A&previous=true&tailLines=1';
    const { status, body } = await answerTo(stand, `deployments/web/log?${query}`);
    expect([status, body.details.causes.map(({ field }: { field: string }) => field)]).toEqual([
      400,
      ['tailLines', 'sinceSeconds', 'follow', 'container', 'previous'],
    ]);
    expect(stand.cluster.evidence.count('get', 'deployments')).toBe(0);
  });

  test.each(['services/web/log', 'secrets/web/log', 'pods/a_b/log', 'deployments/We%20b/log'])(
    'for %s is 404, and nothing goes to the cluster',
    async (path) => {
      const stand = await startWorkload([]);
      expect(await answerTo(stand, path)).toMatchObject({ status: 404 });
      expect(stand.cluster.evidence.requests.some(({ impersonation }) => impersonation !== undefined)).toBe(false);
    },
  );

  test('for an object that is not there gets the 404 of the cluster', async () => {
    const stand = await startWorkload([]);
    expect(await answerTo(stand, 'deployments/other/log')).toMatchObject({
      status: 404,
      body: { message: 'deployments.apps "other" not found' },
    });
  });

  test.each([
    ['deployments', 'deployments.apps "web" is forbidden: User "joe" cannot get resource "deployments"'],
    ['pods', 'pods is forbidden: User "joe" cannot list resource "pods"'],
    ['pods/log', 'pods "web-a" is forbidden: User "joe" cannot get resource "pods/log"'],
  ])('of a caller without the right to %s gets a 403 in the words of the cluster', async (resource, message) => {
    const stand = await startWorkload(['web-a']);
    stand.allow(without(resource));
    const { status, body } = await answerTo(stand, 'deployments/web/log', 'joe');
    expect([status, body.reason, body.message]).toEqual([403, 'Forbidden', expect.stringContaining(message)]);
  });

  test('of a caller who may read some of the logs gets these, and a record for each of the others', async () => {
    const stand = await startWorkload(['web-a', 'web-b']);
    stand.allow([
      ...without('pods/log'),
      { apiGroups: [''], resources: ['pods/log'], verbs: ['get'], resourceNames: ['web-b'] },
    ]);
    stand.write('web-a', 'not for joe');
    stand.write('web-b', 'for joe');
    const reading = await stand.follow('deployments/web/log', 'joe');
    await reading.until(
      () => reading.texts().length > 0 && reading.events.some((event) => event.startsWith('refused')),
    );
    expect(reading.texts()).toEqual(['for joe']);
    expect(reading.records.find(({ event }) => event === 'refused')).toMatchObject({
      ...{ pod: 'web-a', container: 'main' },
      message: expect.stringContaining('User "joe" cannot get resource "pods/log"'),
    });
  });

  test('every read of it impersonates the caller', async () => {
    const stand = await startWorkload(['web-a']);
    stand.allow(RULES);
    const reading = await stand.follow('deployments/web/log', 'joe');
    stand.write('web-a', 'one');
    await reading.until(() => reading.texts().includes('one'));
    const reads = stand.cluster.evidence.requests.filter(({ url }) => url.includes('/namespaces/shop/'));
    expect(
      reads.map(({ path, verb, impersonation }) => `${verb} ${path} as ${impersonation?.user}`).toSorted(),
    ).toEqual([
      'get /api/v1/namespaces/shop/pods/web-a/log as joe',
      'get /apis/apps/v1/namespaces/shop/deployments/web as joe',
      'list /api/v1/namespaces/shop/pods as joe',
      'watch /api/v1/namespaces/shop/pods as joe',
    ]);
  });

  test('is not served without the gateway', async () => {
    const stand = await startWorkload([], { config: { gateway: { enabled: false } } });
    expect(await answerTo(stand, 'deployments/web/log')).toMatchObject({ status: 404 });
  });
});
