import { describe, expect, test } from 'vitest';
import type { ApiRequest } from '../../../dev/cluster/request.ts';
import type { Watcher } from '../../support/watcher.ts';
import { STRIDE_MS } from '../service/driven.ts';
import { type KindsStand, podObject, startKinds } from './kinds-stand.ts';

const LET_GO = { config: { kinds: { idle: '30s' } } };

const changesOf = ({ story }: Watcher): readonly string[] => story.filter((line) => !line.startsWith('BOOKMARK'));
const isOldList = ({ path, query }: ApiRequest): boolean =>
  path === '/api/v1/pods' && query.get('resourceVersionMatch') === 'Exact' && query.get('watch') === null;

/** A version of a client that has all pods. The replica then lets the pods go, so it is as one that has just started. */
async function forgottenVersion(stand: KindsStand): Promise<string> {
  const watch = await stand.watch('pods?watch=true');
  await stand.clock.until(
    () => watch.version,
    (version) => version !== '',
  );
  watch.close();
  await stand.clock.until(
    () => stand.service.metric('gatehouse_kinds_stopped_total{reason="idle"}'),
    (stopped) => stopped === 1,
    STRIDE_MS,
  );
  return watch.version;
}

const resume = (stand: KindsStand, version: string): Promise<Watcher> =>
  stand.watch(`pods?watch=true&resourceVersion=${version}`);

describe('a watch that goes on where the kind is not in memory', () => {
  test('KD-26 is told of every change since its version, removals included, once', async () => {
    const stand = await startKinds(['red', 'green'], LET_GO);
    const version = await forgottenVersion(stand);
    const { objects } = stand.cluster;
    objects.create('pods', podObject('red', 'web-2'));
    objects.remove('pods', 'green/db-1');
    objects.patch('pods', 'green/web-1', { metadata: { labels: { app: 'other' } } });
    objects.create('pods', podObject('red', 'short-lived'));
    objects.remove('pods', 'red/short-lived');
    const watch = await resume(stand, version);
    await stand.clock.until(
      () => changesOf(watch).length,
      (length) => length >= 3,
    );
    await stand.clock.spend(1_000);
    expect(
      changesOf(watch)
        .filter((line) => !line.endsWith(' short-lived'))
        .toSorted(),
    ).toEqual(['ADDED web-2', 'DELETED db-1', 'MODIFIED web-1']);
    expect(changesOf(watch)).not.toContain('ADDED short-lived');
    expect(await stand.names('pods?sortBy=name&ascending=true')).toEqual([
      'red/db-1',
      'green/web-1',
      'red/web-1',
      'red/web-2',
    ]);
  });

  test('KD-26 goes on when nothing has changed, and with changes that come later', async () => {
    const stand = await startKinds(['red'], LET_GO);
    const watch = await resume(stand, await forgottenVersion(stand));
    expect(watch.status).toBe(200);
    stand.cluster.objects.create('pods', podObject('red', 'web-2'));
    await stand.clock.until(
      () => changesOf(watch),
      ({ length }) => length > 0,
    );
    expect(changesOf(watch)).toEqual(['ADDED web-2']);
  });

  test('KD-26 two clients go on whose versions differ, whichever comes first', async () => {
    const stand = await startKinds(['red'], LET_GO);
    const watch = await stand.watch('pods?watch=true');
    await stand.clock.until(
      () => watch.version,
      (version) => version !== '',
    );
    const older = watch.version;
    stand.cluster.objects.create('pods', podObject('red', 'web-2'));
    await stand.clock.until(
      () => watch.version,
      (version) => version !== older,
    );
    const newer = watch.version;
    watch.close();
    await stand.clock.until(
      () => stand.service.metric('gatehouse_kinds_stopped_total{reason="idle"}'),
      (stopped) => stopped === 1,
      STRIDE_MS,
    );
    stand.cluster.objects.remove('pods', 'red/db-1');
    const second = await resume(stand, newer);
    const first = await resume(stand, older);
    await stand.clock.until(
      () => [changesOf(first).length, changesOf(second).length],
      ([one = 0, other = 0]) => one >= 2 && other >= 1,
    );
    expect(changesOf(second)).toEqual(['DELETED db-1']);
    expect(changesOf(first).toSorted()).toEqual(['ADDED web-2', 'DELETED db-1']);
  });

  test('KD-26 is 410 when the cluster no longer knows its version, and the kind is listed all the same', async () => {
    const stand = await startKinds(['red'], LET_GO);
    const version = await forgottenVersion(stand);
    stand.cluster.objects.remove('pods', 'red/db-1');
    stand.cluster.objects.compact();
    expect((await resume(stand, version)).status).toBe(410);
    expect(await stand.names('pods')).toEqual(['red/web-1']);
  });

  test('KD-26 goes on when the cluster has forgotten its version, but nothing had changed until later', async () => {
    const stand = await startKinds(['red'], LET_GO);
    const version = await forgottenVersion(stand);
    const { objects } = stand.cluster;
    for (let at = 0; at < 600; at++) objects.patch('namespaces', 'red', { metadata: { labels: { at: `${at}` } } });
    objects.compact(objects.revision - 550);
    objects.create('pods', podObject('red', 'web-2'));
    const watch = await resume(stand, version);
    await stand.clock.until(
      () => changesOf(watch),
      ({ length }) => length > 0,
    );
    expect(changesOf(watch)).toEqual(['ADDED web-2']);
  });

  test('KD-26 a watch that begins with all objects asks for no old version', async () => {
    const stand = await startKinds(['red'], LET_GO);
    const version = await forgottenVersion(stand);
    const more = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
    const watch = await stand.watch(`pods?watch=true&${more}&resourceVersion=${version}`);
    await stand.clock.until(
      () => changesOf(watch).length,
      (length) => length >= 2,
    );
    expect(stand.requests(isOldList)).toBe(0);
  });

  test('KD-26 a list that no client resumes from asks for no old version', async () => {
    const stand = await startKinds(['red'], LET_GO);
    await stand.ask('pods');
    expect(stand.requests(isOldList)).toBe(0);
  });
});
