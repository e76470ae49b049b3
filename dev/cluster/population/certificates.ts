import { timestamp } from '../timestamp.ts';
import type { KindAndObject } from './workload-objects.ts';
import type { Workload } from './workloads.ts';

const GROUP = 'cert-manager.io';
const CERTIFICATES = `certificates.${GROUP}`;
const DAY_MS = 86_400_000;

const condition = (type: string, ready: boolean) => ({
  ...{ type, status: ready ? 'True' : 'False', observedGeneration: 1 },
  ...(ready
    ? { reason: 'Ready', message: 'Certificate is up to date and has not expired' }
    : { reason: 'Pending', message: 'Issuing certificate as Secret does not exist' }),
});

const OPEN = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** A definition with the shape and the columns of cert-manager's. */
const DEFINITION: KindAndObject = [
  'customresourcedefinitions',
  {
    metadata: { name: CERTIFICATES },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: {
        plural: 'certificates',
        singular: 'certificate',
        kind: 'Certificate',
        listKind: 'CertificateList',
        shortNames: ['cert', 'certs'],
        categories: ['cert-manager'],
      },
      conversion: { strategy: 'None' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: OPEN, status: OPEN } } },
          additionalPrinterColumns: [
            { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type == "Ready")].status' },
            { name: 'Secret', type: 'string', jsonPath: '.spec.secretName' },
            { name: 'Issuer', type: 'string', jsonPath: '.spec.issuerRef.name', priority: 1 },
            { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
          ],
        },
      ],
    },
  },
];

/** A certificate of each application and of each agent. That of `recommendations` is not issued yet. */
export const certificateObjects = (workloads: readonly Workload[], now: number): readonly KindAndObject[] => [
  DEFINITION,
  ...workloads.map(({ namespace, name }): KindAndObject => {
    const ready = name !== 'recommendations';
    const secretName = `${name}-tls`;
    const spec = {
      secretName,
      dnsNames: [`${name}.${namespace}.svc`],
      issuerRef: { name: 'cluster-ca', kind: 'ClusterIssuer', group: GROUP },
      duration: '2160h0m0s',
    };
    const dates = {
      notBefore: timestamp(now - 20 * DAY_MS),
      notAfter: timestamp(now + 70 * DAY_MS),
      renewalTime: timestamp(now + 40 * DAY_MS),
      revision: 1,
    };
    const lastTransitionTime = timestamp(now - 20 * DAY_MS);
    const conditions = [{ ...condition('Ready', ready), lastTransitionTime }];
    return [
      CERTIFICATES,
      {
        apiVersion: `${GROUP}/v1`,
        kind: 'Certificate',
        metadata: { name: secretName, namespace, generation: 1 },
        spec,
        status: { conditions, ...(ready ? dates : {}) },
      },
    ];
  }),
];
