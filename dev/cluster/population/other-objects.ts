import type { KindAndObject } from './workload-objects.ts';

/** Classes that a cluster has. */
export const clusterObjects = (): readonly KindAndObject[] => [
  [
    'storageclasses',
    {
      metadata: { name: 'standard', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
      provisioner: 'disks.example.test',
      reclaimPolicy: 'Delete',
      volumeBindingMode: 'WaitForFirstConsumer',
      allowVolumeExpansion: true,
    },
  ],
  ['ingressclasses', { metadata: { name: 'public' }, spec: { controller: 'example.test/ingress' } }],
  [
    'priorityclasses',
    { metadata: { name: 'important' }, value: 100_000, globalDefault: false, preemptionPolicy: 'PreemptLowerPriority' },
  ],
];

const NAMESPACE = 'shop';
const LABELS = { 'app.kubernetes.io/part-of': NAMESPACE };
const named = (name: string) => ({ name, namespace: NAMESPACE, labels: LABELS });
const ofApp = (name: string) => ({ matchLabels: { 'app.kubernetes.io/name': name } });

/** What the namespace `shop` has besides its workloads. */
export const shopObjects = (): readonly KindAndObject[] => [
  [
    'ingresses',
    {
      metadata: named('storefront'),
      spec: {
        ingressClassName: 'public',
        tls: [{ hosts: ['shop.example.test'], secretName: 'storefront-tls' }],
        rules: [
          {
            host: 'shop.example.test',
            http: {
              paths: [
                { path: '/', pathType: 'Prefix', backend: { service: { name: 'storefront', port: { name: 'http' } } } },
              ],
            },
          },
        ],
      },
      status: { loadBalancer: { ingress: [{ ip: '192.0.2.200' }] } },
    },
  ],
  [
    'horizontalpodautoscalers',
    {
      metadata: named('storefront'),
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'storefront' },
        minReplicas: 2,
        maxReplicas: 20,
        metrics: [
          { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 70 } } },
        ],
      },
      status: { currentReplicas: 2, desiredReplicas: 2 },
    },
  ],
  [
    'poddisruptionbudgets',
    {
      metadata: named('checkout'),
      spec: { minAvailable: 1, selector: ofApp('checkout') },
      status: { disruptionsAllowed: 1 },
    },
  ],
  [
    'networkpolicies',
    { metadata: named('payments'), spec: { podSelector: ofApp('payments'), policyTypes: ['Ingress'], ingress: [{}] } },
  ],
  ['resourcequotas', { metadata: named('shop'), spec: { hard: { pods: '500', 'requests.cpu': '200' } } }],
  [
    'limitranges',
    {
      metadata: named('defaults'),
      spec: { limits: [{ type: 'Container', defaultRequest: { cpu: '50m', memory: '64Mi' } }] },
    },
  ],
];
