import { beforeEach, describe, expect, test } from 'vitest';
import { inNamespace, type Json, path, type Query, unique } from './api-client.ts';
import { USERS, userOf } from './custom-resources.ts';
import { failure, type Suite } from './suite.ts';
import type { WatchStream } from './watch-stream.ts';

const METADATA_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

const brief = ({ type, object }: Json): string => `${type} ${object.metadata.name}`;

export function describeWatches(suite: Suite): void {
  describe('a watch', () => {
    let secrets: string;
    beforeEach(async () => {
      secrets = inNamespace(await suite.api.newNamespace(), 'secrets');
    });
    const create = (name: string, labels = {}): Promise<Json> =>
      suite.api.create(secrets, { metadata: { name, labels } });
    const label = (name: string, labels: object): Promise<Json> =>
      suite.api.patch(`${secrets}/${name}`, { metadata: { labels } });
    const watch = (query: Query): Promise<WatchStream> => suite.api.watch(path(secrets, { watch: 'true', ...query }));

    test('from a version sends what happened since, then what happens', async () => {
      const resourceVersion = await suite.api.version(secrets);
      await create('a');
      await label('a', { x: 'y' });
      const stream = await watch({ resourceVersion });
      expect(stream.status).toBe(200);
      expect(stream.headers['content-type']).toBe('application/json');
      expect((await stream.take(2)).map(brief)).toEqual(['ADDED a', 'MODIFIED a']);
      await create('b');
      await suite.api.delete(`${secrets}/a`);
      expect((await stream.take(2)).map(brief)).toEqual(['ADDED b', 'DELETED a']);
    });

    test('in the old form of the path is the same, of a collection and of one object', async () => {
      await create('a');
      await create('b');
      const old = secrets.replace('/api/v1/', '/api/v1/watch/');
      const ofAll = await suite.api.watch(path(old, {}));
      expect((await ofAll.take(2)).map(brief).sort()).toEqual(['ADDED a', 'ADDED b']);
      const ofOne = await suite.api.watch(path(`${old}/b`, {}));
      expect(brief(await ofOne.next())).toBe('ADDED b');
      await label('a', { x: 'y' });
      await label('b', { x: 'y' });
      expect(brief(await ofOne.next())).toBe('MODIFIED b');
    });

    test('in the old form of the path needs the right to watch, whatever the query says', async () => {
      const old = secrets.replace('/api/v1/', '/api/v1/watch/');
      const { status, body } = await suite.api.get(path(old, { watch: 'false' }), {
        token: suite.target.powerlessToken,
      });
      const namespace = secrets.split('/')[4];
      const message = `secrets is forbidden: User "nobody" cannot watch resource "secrets" in API group "" in the namespace "${namespace}"`;
      expect([status, body]).toEqual([403, failure(403, 'Forbidden', message, { kind: 'secrets' })]);
    });

    test('in the old form of the path is that of a custom resource, too, and chosen by labels', async () => {
      const name = unique('user');
      for (const [one, labels] of [
        [name, { of: name }],
        [unique('user'), {}],
      ] as const)
        await suite.api.create(USERS, userOf({ metadata: { name: one, labels }, spec: {} }));
      const old = USERS.replace('/v1alpha2/', '/v1alpha2/watch/');
      const stream = await suite.api.watch(path(old, { labelSelector: `of=${name}` }));
      const { type, object } = await stream.next();
      expect([type, object.kind, object.metadata.name]).toEqual(['ADDED', 'User', name]);
      await suite.api.delete(`${USERS}/${name}`);
      expect(brief(await stream.next())).toBe(`DELETED ${name}`);
    });

    test('has objects with kind and apiVersion, whose versions rise, also at a deletion', async () => {
      const stream = await watch({ resourceVersion: await suite.api.version(secrets) });
      await create('a');
      await label('a', { x: 'y' });
      await suite.api.delete(`${secrets}/a`);
      const events = await stream.take(3);
      for (const { object } of events) expect(object).toMatchObject({ kind: 'Secret', apiVersion: 'v1' });
      const versions = events.map(({ object }) => BigInt(object.metadata.resourceVersion));
      expect(versions[1]).toBeGreaterThan(versions[0]!);
      expect(versions[2]).toBeGreaterThan(versions[1]!);
      expect(events[2].object.metadata.labels).toEqual({ x: 'y' }); // the last state, at the version of its end
    });

    test.each([{}, { resourceVersion: '0' }])('from %o begins with the state as ADDED', async (query) => {
      await create('a');
      await create('b');
      const stream = await watch(query);
      expect((await stream.take(2)).map(brief).sort()).toEqual(['ADDED a', 'ADDED b']);
      await create('c');
      expect(brief(await stream.next())).toBe('ADDED c');
    });

    test('tells an object that leaves the selector as DELETED, in its old state at the new version', async () => {
      const added = await create('a', { wanted: 'yes' });
      const { resourceVersion } = added.metadata;
      const stream = await watch({ resourceVersion, labelSelector: 'wanted=yes' });
      await create('other', { wanted: 'no' });
      const { body: left } = await label('a', { wanted: 'no' });
      const deleted = await stream.next();
      expect(deleted).toMatchObject({
        type: 'DELETED',
        object: { metadata: { name: 'a', labels: { wanted: 'yes' } } },
      });
      expect(deleted.object.metadata.resourceVersion).toBe(left.metadata.resourceVersion);
      await label('a', { wanted: 'yes' });
      expect(brief(await stream.next())).toBe('ADDED a'); // and comes back as new
    });

    test('of one name sees that object only', async () => {
      const stream = await watch({
        resourceVersion: await suite.api.version(secrets),
        fieldSelector: 'metadata.name=b',
      });
      await create('a');
      await create('b');
      await label('a', { x: 'y' });
      await label('b', { x: 'y' });
      expect((await stream.take(2)).map(brief)).toEqual(['ADDED b', 'MODIFIED b']);
    });

    test('of all namespaces sees this one too', async () => {
      const resourceVersion = await suite.api.version(secrets);
      const everywhere = path('/api/v1/secrets', { watch: 1, resourceVersion, labelSelector: 'everywhere' });
      const stream = await suite.api.watch(everywhere);
      await create('a', { everywhere: '' });
      expect(brief(await stream.next())).toBe('ADDED a');
    });

    test('has metadata only when that is asked for', async () => {
      const query = path(secrets, { watch: 'true', resourceVersion: await suite.api.version(secrets) });
      const stream = await suite.api.watch(query, { headers: { accept: METADATA_ONLY } });
      await create('a');
      const { object } = await stream.next();
      expect(object).toMatchObject({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' });
      expect(Object.keys(object).sort()).toEqual(['apiVersion', 'kind', 'metadata']);
    });

    test('ends in the orderly way after timeoutSeconds', async () => {
      const resourceVersion = await suite.api.version(secrets);
      await create('a'); // before the watch, which then reports it; an object created later might come too late
      const stream = await watch({ resourceVersion, timeoutSeconds: 1 });
      expect((await stream.rest()).map(brief)).toEqual(['ADDED a']);
    });

    test('sends a bookmark shortly before timeoutSeconds to a client that takes bookmarks', async () => {
      const resourceVersion = await suite.api.version(secrets);
      // A real server sends no bookmark of the version that the watch began with; 6 s are left for another one.
      const stream = await watch({ resourceVersion, timeoutSeconds: 8, allowWatchBookmarks: 'true' });
      const { metadata } = await create('a', { big: 'no' });
      const [added, ...bookmarks] = await stream.rest();
      expect(brief(added)).toBe('ADDED a');
      expect(bookmarks.length).toBeGreaterThan(0);
      for (const { type, object } of bookmarks) {
        expect(type).toBe('BOOKMARK');
        expect(object).toMatchObject({ kind: 'Secret', apiVersion: 'v1' });
        expect(object.metadata.name).toBeUndefined();
        expect(BigInt(object.metadata.resourceVersion)).toBeGreaterThanOrEqual(BigInt(metadata.resourceVersion));
      }
    });

    test('sends no bookmark to a client that does not ask', async () => {
      const stream = await watch({ resourceVersion: await suite.api.version(secrets), timeoutSeconds: 4 });
      expect(await stream.rest()).toEqual([]);
    });

    test('from a version that is still to come tells what comes after that version', async () => {
      const wanted = BigInt(await suite.api.version(secrets)) + 3n;
      const stream = await watch({ resourceVersion: String(wanted) });
      let last = '';
      for (let version = 0n; version <= wanted; version = BigInt(last)) {
        const made = await suite.api.create(secrets, { metadata: { name: unique('later') } });
        last = made.metadata.resourceVersion;
      }
      const { type, object } = await stream.next();
      expect([type, object.metadata.resourceVersion]).toEqual(['ADDED', last]);
    });

    // This is surprising: a watch does not notice a version from another cluster. Only lists and WatchLists answer 504.
    test('from a version that is still to come is accepted and stays silent', async () => {
      const stream = await watch({ resourceVersion: '999999999', timeoutSeconds: 1 });
      expect(stream.status).toBe(200);
      expect(await stream.rest()).toEqual([]);
    });
  });
}
