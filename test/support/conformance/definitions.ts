import { beforeAll, describe, expect, test } from 'vitest';
import { type Json, path, unique } from './api-client.ts';
import { failure, type Suite } from './suite.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const AGGREGATED = { headers: { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' } };
const TABLE = { headers: { accept: 'application/json;g=meta.k8s.io;v=v1;as=Table' } };
const OPEN = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

const COLUMNS = [
  { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: 'Secret', type: 'string', jsonPath: '.spec.secretName', priority: 1 },
  { name: 'Count', type: 'integer', jsonPath: '.spec.count' },
  { name: 'Flag', type: 'boolean', jsonPath: '.spec.flag' },
  { name: 'Names', type: 'string', jsonPath: '.spec.names' },
  { name: 'Any', type: 'string', jsonPath: '.spec.names[*]' },
  { name: 'Issuer', type: 'string', jsonPath: '.spec.issuer' },
  { name: 'Since', type: 'date', jsonPath: '.spec.since' },
];

/** A definition with the versions `v1alpha2` (plain) and `v1` (stored, with status, columns and a field selector). */
function definitionIn(group: string): Json {
  const spec = { ...OPEN, properties: { secretName: { type: 'string' } } };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec, status: OPEN } } };
  const old = { name: 'v1alpha2', served: true, storage: false, schema: { openAPIV3Schema: OPEN } };
  const now = {
    ...{ name: 'v1', served: true, storage: true, schema, subresources: { status: {} } },
    ...{ additionalPrinterColumns: COLUMNS, selectableFields: [{ jsonPath: '.spec.secretName' }] },
  };
  const names = { plural: 'certificates', kind: 'Certificate', shortNames: ['cert', 'certs'], categories: ['demo'] };
  return {
    ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
    metadata: { name: `certificates.${group}` },
    spec: { group, scope: 'Namespaced', names, versions: [old, now] },
  };
}

/** Kinds that come and go with a CustomResourceDefinition. */
export function describeDefinitions(suite: Suite): void {
  describe('a definition', { timeout: 120_000 }, () => {
    const group = `${unique('group')}.example.test`;
    const definition = `${DEFINITIONS}/certificates.${group}`;
    const root = `/apis/${group}`;
    const all = `${root}/v1/certificates`;
    let namespace: string;
    let created: Json;
    const here = (version: string): string => `${root}/${version}/namespaces/${namespace}/certificates`;
    const certificate = (name: string, spec: Json, version = 'v1'): Json => ({
      ...{ apiVersion: `${group}/${version}`, kind: 'Certificate', metadata: { name } },
      spec,
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    });
    const groupInOne = async (): Promise<Json> => {
      const { body } = await suite.api.get('/apis', AGGREGATED);
      return body.items.find(({ metadata }: Json) => metadata.name === group);
    };

    beforeAll(async () => {
      namespace = await suite.api.newNamespace();
      created = await suite.api.create(DEFINITIONS, definitionIn(group));
    });

    test('serves its kind soon', async () => {
      await expect.poll(async () => (await suite.api.get(all)).status).toBe(200);
      await expect.poll(groupInOne).toBeDefined();
    });

    test('is completed with the names that follow from others', () => {
      expect(created.spec.names).toMatchObject({ singular: 'certificate', listKind: 'CertificateList' });
      expect(created.spec.conversion).toEqual({ strategy: 'None' });
      expect(created.metadata.generation).toBe(1);
      expect(created.status).toEqual({
        conditions: null,
        acceptedNames: { plural: '', kind: '' },
        storedVersions: ['v1'],
      });
    });

    test('is established', async () => {
      const { body } = await suite.api.get(definition);
      expect(body.status.conditions.map(({ type, status, reason }: Json) => [type, status, reason])).toEqual([
        ['NamesAccepted', 'True', 'NoConflicts'],
        ['Established', 'True', 'InitialNamesAccepted'],
      ]);
      expect(body.status.acceptedNames).toEqual(body.spec.names);
    });

    test('puts its kind into discovery, in every version', async () => {
      const { body: ofGroup } = await suite.api.get(root);
      expect(ofGroup).toMatchObject({ kind: 'APIGroup', preferredVersion: { version: 'v1' } });
      expect(ofGroup.versions.map(({ version }: Json) => version)).toEqual(['v1', 'v1alpha2']);
      const { body: list } = await suite.api.get(`${root}/v1`);
      expect(list.resources.map(({ name }: Json) => name)).toEqual(['certificates', 'certificates/status']);
      expect(list.resources[0]).toMatchObject({
        shortNames: ['cert', 'certs'],
        categories: ['demo'],
        namespaced: true,
      });
      const { versions } = await groupInOne();
      expect(versions.map(({ version, freshness }: Json) => [version, freshness])).toEqual([
        ['v1', 'Current'],
        ['v1alpha2', 'Current'],
      ]);
      // Unlike that of a built-in kind, this type has its group and version.
      const responseKind = { group, version: 'v1', kind: 'Certificate' };
      expect(versions[0].resources[0]).toMatchObject({ resource: 'certificates', responseKind });
      expect(versions[0].resources[0].subresources).toMatchObject([{ subresource: 'status', responseKind }]);
      expect(versions[1].resources[0].subresources).toBeUndefined();
    });

    test('serves an object in every version', async () => {
      const spec = { secretName: 's', count: 3, flag: true, names: ['a', 'b'], issuer: { name: 'i', kind: 'x' } };
      const one = await suite.api.create(here('v1'), certificate('one', { ...spec, since: '2020-01-01T00:00:00Z' }));
      expect([one.status, one.metadata.generation]).toEqual([undefined, 1]); // the status has its own path
      const two = await suite.api.create(here('v1alpha2'), certificate('two', {}, 'v1alpha2'));
      expect(two).toMatchObject({ apiVersion: `${group}/v1alpha2`, status: { conditions: [{ type: 'Ready' }] } });
      const { body: old } = await suite.api.get(`${here('v1alpha2')}/one`);
      expect(old).toEqual({ ...one, apiVersion: `${group}/v1alpha2` });
      const { body: list } = await suite.api.get(all);
      expect(list).toMatchObject({ kind: 'CertificateList', apiVersion: `${group}/v1` });
      expect(list.items.map(({ apiVersion, metadata }: Json) => [apiVersion, metadata.name])).toEqual([
        [`${group}/v1`, 'one'],
        [`${group}/v1`, 'two'],
      ]);
    });

    test('prints the columns of each version', async () => {
      const { body } = await suite.api.get(all, TABLE);
      expect(body.columnDefinitions.map(({ name, type, priority }: Json) => [name, type, priority])).toEqual([
        ['Name', 'string', 0],
        ...COLUMNS.map(({ name, type, priority = 0 }) => [name, type, priority]),
      ]);
      const since = expect.stringMatching(/^\d+y(\d+d)?$/);
      expect(body.rows.map(({ cells }: Json) => cells)).toEqual([
        ['one', null, 's', 3, true, '["a","b"]', 'a', '{"kind":"x","name":"i"}', since],
        ['two', 'True', null, null, null, null, null, null, null],
      ]);
      const { body: old } = await suite.api.get(`${root}/v1alpha2/certificates`, TABLE);
      expect(old.columnDefinitions.map(({ name }: Json) => name)).toEqual(['Name', 'Age']);
    });

    test('names the field selectors of each version', async () => {
      const names = async (version: string): Promise<Json> => {
        const { status, body } = await suite.api.get(path(here(version), { fieldSelector: 'spec.secretName=s' }));
        return status === 200 ? body.items.map(({ metadata }: Json) => metadata.name) : [status, body.message];
      };
      expect(await names('v1')).toEqual(['one']);
      expect(await names('v1alpha2')).toEqual([400, 'field label not supported: spec.secretName']);
    });

    test('must be named by plural and group, and have one storage version', async () => {
      const body = definitionIn(group);
      const misnamed = await suite.api.post(DEFINITIONS, { ...body, metadata: { name: 'x.y' } });
      const message = 'Invalid value: "x.y": must be spec.names.plural+"."+spec.group';
      const subject = 'CustomResourceDefinition.apiextensions.k8s.io "x.y"';
      expect(misnamed.body).toEqual(
        failure(422, 'Invalid', `${subject} is invalid: metadata.name: ${message}`, {
          ...{ name: 'x.y', group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' },
          causes: [{ reason: 'FieldValueInvalid', message, field: 'metadata.name' }],
        }),
      );
      const versions = body.spec.versions.map((one: Json) => ({ ...one, storage: true }));
      const twice = await suite.api.post(DEFINITIONS, { ...body, spec: { ...body.spec, versions } });
      expect(twice.status).toBe(422);
      expect(twice.body.message).toContain('must have exactly one version marked as storage version');
    });

    test('that changes its storage version keeps its objects, and ends the watches of its kind', async () => {
      const watch = await suite.api.watch(path(all, { watch: true }));
      await watch.next();
      const { versions } = definitionIn(group).spec;
      const swapped = versions.map((one: Json) => ({ ...one, storage: !one.storage }));
      const { status, body } = await suite.api.patch(definition, { spec: { versions: swapped } });
      expect([status, body.metadata.generation]).toEqual([200, 2]);
      await watch.rest();
      await expect.poll(async () => (await suite.api.get(all)).body.items?.length).toBe(2);
      await expect
        .poll(async () => (await suite.api.get(definition)).body.status.storedVersions)
        .toEqual(['v1', 'v1alpha2']);
    });

    test('takes its objects and its kind with it, and ends the watches after their deletion', async () => {
      const watch = await suite.api.watch(path(all, { watch: true }));
      const added = [await watch.next(), await watch.next()];
      expect(added.map(({ type, object }: Json) => [type, object.metadata.name])).toEqual([
        ['ADDED', 'one'],
        ['ADDED', 'two'],
      ]);
      const { status, body } = await suite.api.delete(definition);
      expect([status, body.kind]).toEqual([200, 'CustomResourceDefinition']);
      expect(body.metadata.deletionTimestamp).toBeDefined();
      expect(body.metadata.finalizers).toEqual(['customresourcecleanup.apiextensions.k8s.io']);
      const gone = [await watch.next(), await watch.next()];
      expect(gone.map(({ type, object }: Json) => [type, object.metadata.name]).sort()).toEqual([
        ['DELETED', 'one'],
        ['DELETED', 'two'],
      ]);
      expect(await watch.next()).toBeUndefined();
      await expect.poll(async () => (await suite.api.get(definition)).status).toBe(404);
      await expect.poll(async () => (await suite.api.get(all)).text).toBe('404 page not found\n');
      await expect.poll(groupInOne).toBeUndefined();
      expect((await suite.api.get(root)).status).toBe(404);
    });
  });
}
