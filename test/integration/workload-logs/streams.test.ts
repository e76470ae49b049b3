import { connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { atEnd } from '../../support/at-end.ts';
import { CLIENT, eventually } from '../service/stand.ts';
import { NAMESPACE, RULES, startDrivenWorkload, startWorkload, type WorkloadStand } from './workload-stand.ts';

/** How many logs the cluster is sending. */
const openLogs = ({ cluster }: WorkloadStand): number => cluster.podLogs.readers;

/** How many logs the cluster is sending, and watches of pods. Gatehouse itself has one. */
const openReads = (stand: WorkloadStand): number => openLogs(stand) + stand.cluster.evidence.openWatches('pods');

describe('G-30 G-31 a stream of logs', () => {
  test('whose client leaves ends at the cluster, with all its reads', async () => {
    const stand = await startWorkload();
    const before = openReads(stand);
    const reading = await stand.follow();
    // The three logs, and the watch of the pods.
    await eventually(
      () => openReads(stand),
      (open) => open === before + 4,
    );
    reading.leave();
    await eventually(
      () => openReads(stand),
      (open) => open === before,
    );
  });

  test('takes one of the seats of its user, however many pods it has', async () => {
    const stand = await startWorkload(undefined, {
      config: { gateway: { enabled: true }, limits: { maxGatewayStreamsPerUser: 2 } },
    });
    for (let count = 0; count < 2; count++) expect((await stand.follow()).status).toBe(200);
    expect((await stand.follow()).status).toBe(429);
  });

  test('that is not read stops the reading at the cluster, and goes on where it was', async () => {
    const stand = await startWorkload(['web-a']);
    const client = await paused(stand);
    await eventually(
      () => openLogs(stand),
      (open) => open === 1,
    );
    const text = 'x'.repeat(4_000);
    const written = async (): Promise<number> => {
      for (let count = 0; count < 100; count++) stand.write('web-a', text);
      await new Promise((resolve) => setTimeout(resolve, 5));
      return stand.cluster.bytesSent();
    };
    // The buffers of the kernel take some megabytes; then nothing more leaves the cluster.
    let before = -1;
    await eventually(written, (sent) => {
      const stands = sent === before;
      before = sent;
      return stands;
    });
    client.resume();
    stand.write('web-a', 'the last line');
    await eventually(
      () => client.received,
      (bytes) => bytes.includes('the last line'),
    );
  });

  test('ends with a record within 60 s after the session of its caller has ended', async () => {
    const { stand, clock } = await startDrivenWorkload(['web-a']);
    const before = openReads(stand);
    const reading = await clock.during(stand.follow());
    const form = { token: stand.refreshTokens.ada, ...CLIENT };
    expect((await clock.during(stand.service.call('/oauth/revoke', { form }))).status).toBe(200);
    await clock.spend(61_000);
    await clock.until(() => reading.isWhole, Boolean);
    expect(reading.records.at(-1)).toEqual({ type: 'end', reason: 'revoked', message: 'the session has ended' });
    await clock.until(
      () => openReads(stand),
      (open) => open === before,
    );
  });

  test('ends with a record within 60 s after its caller has lost the right', async () => {
    const { stand, clock } = await startDrivenWorkload(['web-a']);
    const withdraw = stand.allow(RULES);
    const reading = await clock.during(stand.follow('deployments/web/log', 'joe'));
    await clock.spend(61_000);
    expect(reading.isWhole).toBe(false);
    withdraw();
    await clock.spend(61_000);
    await clock.until(() => reading.isWhole, Boolean);
    expect(reading.records.at(-1)).toMatchObject({ type: 'end', reason: 'forbidden' });
  });

  test('loses only the pods whose logs its caller may no longer read', async () => {
    const { stand, clock } = await startDrivenWorkload(['web-a', 'web-b']);
    const named = (...resourceNames: string[]) => [
      ...RULES.slice(0, 2),
      { apiGroups: [''], resources: ['pods/log'], verbs: ['get'], resourceNames },
    ];
    stand.allow(named('web-a', 'web-b'));
    const reading = await clock.during(stand.follow('deployments/web/log', 'joe'));
    await clock.until(
      () => openLogs(stand),
      (open) => open === 2,
    );
    stand.cluster.objects.patch('roles', `${NAMESPACE}/joe-logs`, { rules: named('web-b') });
    await clock.spend(61_000);
    await clock.until(() => reading.events.includes('refused web-a'), Boolean);
    stand.write('web-a', 'not any more');
    stand.write('web-b', 'still');
    await clock.until(() => reading.texts().includes('still'), Boolean);
    expect(reading.texts()).toEqual(['still']);
  });

  test('that is silent has a record every 45 s', async () => {
    const { stand, clock } = await startDrivenWorkload(['web-a']);
    const reading = await clock.during(stand.follow());
    await clock.spend(100_000);
    await clock.until(
      () => reading.records.filter(({ type }) => type === 'idle').length,
      (count) => count === 2,
    );
  });

  test('ends with a record when its object is deleted', async () => {
    const { stand, clock } = await startDrivenWorkload(['web-a']);
    const reading = await clock.during(stand.follow());
    stand.cluster.objects.remove('deployments', `${NAMESPACE}/web`);
    stand.removePod('web-a');
    await clock.until(() => reading.isWhole, Boolean);
    expect(reading.records.at(-1)).toEqual({ type: 'end', reason: 'gone', message: 'the object is gone' });
  });

  test('of one pod ends with a record when the pod is gone', async () => {
    const { stand, clock } = await startDrivenWorkload(['web-a', 'web-b']);
    const reading = await clock.during(stand.follow('pods/web-a/log'));
    stand.removePod('web-a');
    await clock.until(() => reading.isWhole, Boolean);
    expect(reading.records.at(-1)).toMatchObject({ type: 'end', reason: 'gone' });
    expect(reading.events).toEqual(['joined web-a', 'left web-a']);
  });

  test('of a job ends with a record when the job has ended and all was read', async () => {
    const { stand, clock } = await startDrivenWorkload([]);
    const { objects } = stand.cluster;
    const name = { name: 'sum', namespace: NAMESPACE };
    const job = objects.create('jobs', { metadata: name, spec: { selector: { matchLabels: { app: 'web' } } } });
    const owned = [{ apiVersion: 'batch/v1', kind: 'Job', name: 'sum', uid: job.metadata.uid, controller: true }];
    stand.addPod('sum-1', { metadata: { ownerReferences: owned }, spec: { restartPolicy: 'Never' } });
    const reading = await clock.during(stand.follow('jobs/sum/log'));
    stand.write('sum-1', 'the result');
    stand.setStatus('sum-1', 0, { terminated: { exitCode: 0, reason: 'Completed' } });
    objects.patch('pods', `${NAMESPACE}/sum-1`, { status: { phase: 'Succeeded' } });
    await clock.spend(30_000);
    expect([reading.isWhole, reading.texts()]).toEqual([false, ['the result']]);
    objects.patch('jobs', `${NAMESPACE}/sum`, { status: { conditions: [{ type: 'Complete', status: 'True' }] } });
    await clock.until(() => reading.isWhole, Boolean);
    expect(reading.records.at(-1)).toMatchObject({ type: 'end', reason: 'finished' });
    const again = await clock.during(stand.follow('jobs.batch/sum/log'));
    await clock.until(() => again.isWhole, Boolean);
    expect([again.texts(), again.records.at(-1)?.['reason']]).toEqual([['the result'], 'finished']);
  });

  test('ends with a record when the server stops, after server.streamDrain', async () => {
    const { stand, clock } = await startDrivenWorkload(['web-a']);
    const reading = await clock.during(stand.follow());
    await clock.during(stand.service.gatehouse.stop(), 250);
    expect(await reading.ended()).toMatchObject({ type: 'end', reason: 'closing' });
  });
});

test('G-30 the audit trail has a line when a stream begins and one when it ends, about the cluster’s own object', async () => {
  const stand = await startWorkload(['web-a']);
  const reading = await stand.follow();
  reading.leave();
  const lines = await eventually(
    () => stand.service.gatehouse.log.filter(({ event }) => String(event).startsWith('cluster_call')),
    ({ length }) => length === 2,
  );
  for (const [at, event] of ['cluster_call_began', 'cluster_call'].entries())
    expect(lines[at]).toMatchObject({
      ...{ event, user: 'ada', impersonatedUser: 'ada', verb: 'get', group: 'apps', resource: 'deployments' },
      ...{ subresource: 'log', namespace: NAMESPACE, name: 'web' },
    });
});

/** A client that has asked for a stream and does not read until it is told to. */
async function paused(stand: WorkloadStand): Promise<{ readonly received: Buffer; resume(): void }> {
  const { port, pathname } = new URL(stand.url('deployments/web/log'));
  const socket: Socket = connect(Number(port), '127.0.0.1');
  atEnd(() => void socket.destroy());
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.pause();
  socket.write(
    `GET ${pathname} HTTP/1.1\r\nHost: gatehouse.example\r\nAuthorization: Bearer ${stand.tokens.ada}\r\n\r\n`,
  );
  let received = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received.subarray(-100), chunk]);
  });
  socket.pause();
  return {
    get received() {
      return received;
    },
    resume: () => void socket.resume(),
  };
}
