import { beforeAll, describe, expect, test } from 'vitest';
import { type Json, unique } from './api-client.ts';
import { failure, OUTDATED, type Suite } from './suite.ts';

export function describeLeases(suite: Suite): void {
  describe('a Lease', () => {
    let leases: string;
    beforeAll(async () => {
      leases = `/apis/coordination.k8s.io/v1/namespaces/${await suite.api.newNamespace()}/leases`;
    });
    const spec = { holderIdentity: 'a', leaseDurationSeconds: 15, renewTime: '2026-03-09T10:00:00.123456Z' };
    const create = (): Promise<Json> => suite.api.create(leases, { metadata: { name: unique('lease') }, spec });

    test('keeps its holder and its times to the microsecond', async () => {
      const lease = await create();
      expect(lease).toMatchObject({ kind: 'Lease', apiVersion: 'coordination.k8s.io/v1', spec });
    });

    test('changes its holder by compare-and-swap on its version', async () => {
      const lease = await create();
      const { name } = lease.metadata;
      const taken = await suite.api.put(`${leases}/${name}`, { ...lease, spec: { ...spec, holderIdentity: 'b' } });
      expect(taken.status).toBe(200);
      expect(taken.body.spec.holderIdentity).toBe('b');
      const late = await suite.api.put(`${leases}/${name}`, { ...lease, spec: { ...spec, holderIdentity: 'c' } });
      expect(late.status).toBe(409);
      expect(late.body).toEqual(
        failure(409, 'Conflict', `Operation cannot be fulfilled on leases.coordination.k8s.io "${name}": ${OUTDATED}`, {
          name,
          group: 'coordination.k8s.io',
          kind: 'leases',
        }),
      );
    });

    // Nodes and Secrets are different: an update without a version replaces them.
    test('is not updated without a version', async () => {
      const { name } = (await create()).metadata;
      const { status, body } = await suite.api.put(`${leases}/${name}`, { metadata: { name }, spec });
      expect(status).toBe(422);
      const message = 'Invalid value: 0: must be specified for an update';
      expect(body).toEqual(
        failure(
          422,
          'Invalid',
          `leases.coordination.k8s.io "${name}" is invalid: metadata.resourceVersion: ${message}`,
          {
            name,
            group: 'coordination.k8s.io',
            kind: 'leases',
            causes: [{ reason: 'FieldValueInvalid', message, field: 'metadata.resourceVersion' }],
          },
        ),
      );
    });

    test('is created by PUT where there is none', async () => {
      const name = unique('lease');
      const { status, body } = await suite.api.put(`${leases}/${name}`, { metadata: { name }, spec });
      expect(status).toBe(201);
      expect(body.spec).toEqual(spec);
    });
  });
}
