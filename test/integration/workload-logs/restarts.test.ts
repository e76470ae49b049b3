import { describe, expect, test } from 'vitest';
import { NAMESPACE, startWorkload } from './workload-stand.ts';

const LOG = { verb: 'get', kind: 'pods', subresource: 'log' } as const;

describe('G-29 nothing is lost or doubled', () => {
  test('between the end of a container and its next start, which a record tells', async () => {
    const stand = await startWorkload(['web-a']);
    const reading = await stand.follow();
    stand.write('web-a', 'one', 'two');
    await reading.until(() => reading.texts().includes('two'));
    stand.write('web-a', 'last words');
    stand.restart('web-a', 1);
    stand.write('web-a', 'first words', 'two');
    await reading.until(() => reading.texts().at(-1) === 'two' && reading.texts().length > 2);
    expect(reading.texts()).toEqual(['one', 'two', 'last words', 'first words', 'two']);
    expect(reading.records.find(({ event }) => event === 'restarted')).toEqual({
      ...{ type: 'pod', event: 'restarted', pod: 'web-a', container: 'main' },
      message: 'restarted, for the 1st time: exit code 1 (Error)',
    });
    expect(reading.records.findIndex(({ text }) => text === 'last words')).toBeLessThan(
      reading.records.findIndex(({ event }) => event === 'restarted'),
    );
  });

  test('when the connection breaks in the middle of a line', async () => {
    const stand = await startWorkload(['web-a']);
    stand.write('web-a', 'one', 'two', 'three');
    stand.cluster.faults.next(LOG, { stream: { afterBytes: 60, ending: 'reset' } });
    const reading = await stand.follow();
    await reading.until(() => reading.texts().includes('three'));
    stand.write('web-a', 'four');
    await reading.until(() => reading.texts().includes('four'));
    expect(reading.texts()).toEqual(['one', 'two', 'three', 'four']);
    expect(reading.records.filter(({ type }) => type === 'cluster').map(({ event }) => event)).toEqual([
      'away',
      'back',
    ]);
  });

  test('when the cluster is away for a while, and a container restarts meanwhile', async () => {
    const stand = await startWorkload(['web-a']);
    const reading = await stand.follow();
    stand.write('web-a', 'before');
    await reading.until(() => reading.texts().includes('before'));
    const restarting = stand.cluster.restart(1_500);
    stand.write('web-a', 'unseen', 'unseen as well');
    stand.restart('web-a', 1);
    stand.write('web-a', 'after');
    await restarting;
    await reading.until(() => reading.texts().includes('after'));
    expect(reading.texts()).toEqual(['before', 'unseen', 'unseen as well', 'after']);
  });

  test('when a container restarts before the watch of the pods can tell', async () => {
    const stand = await startWorkload(['web-a']);
    const reading = await stand.follow();
    stand.write('web-a', 'before');
    await reading.until(() => reading.texts().includes('before'));
    const isOurs = ({ impersonation }: { readonly impersonation: unknown }): boolean => impersonation !== undefined;
    const tellAgain = stand.cluster.faults.until({ verb: 'watch', kind: 'pods', when: isOurs }, { status: 500 });
    const restarting = stand.cluster.restart(200);
    stand.write('web-a', 'unseen');
    stand.restart('web-a', 1);
    stand.write('web-a', 'after');
    await restarting;
    await reading.until(() => reading.texts().includes('after'));
    tellAgain();
    await reading.until(() => reading.events.includes('restarted web-a/main'));
    expect(reading.texts()).toEqual(['before', 'unseen', 'after']);
  });

  test('when the history of the cluster has gone, so that the pods are listed again', async () => {
    const stand = await startWorkload(['web-a', 'web-b']);
    const reading = await stand.follow();
    await reading.until(() => reading.events.length === 2);
    const restarting = stand.cluster.restart(200);
    stand.removePod('web-b');
    stand.addPod('web-c');
    stand.cluster.compact();
    await restarting;
    stand.write('web-c', 'hello');
    await reading.until(() => reading.texts('web-c').includes('hello') && reading.events.includes('left web-b'));
    expect(reading.events.toSorted()).toEqual(['joined web-a', 'joined web-b', 'joined web-c', 'left web-b']);
  });

  test('a container that waits to be started is read when it has', async () => {
    const stand = await startWorkload([]);
    stand.addPod('web-a', {
      status: {
        containerStatuses: [{ name: 'main', restartCount: 0, state: { waiting: { reason: 'ContainerCreating' } } }],
      },
    });
    const reading = await stand.follow();
    await reading.until(() => reading.events.includes('joined web-a'));
    expect(stand.logRequests).toEqual([]);
    stand.setStatus('web-a', 0, { running: {} });
    stand.write('web-a', 'one');
    await reading.until(() => reading.texts().includes('one'));
    expect(stand.logRequests).toEqual([
      `/api/v1/namespaces/${NAMESPACE}/pods/web-a/log?container=main&timestamps=true&follow=true`,
    ]);
  });
});
