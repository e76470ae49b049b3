/** Manifests for `kubectl create`: a node with the label `tier: old`, and a pod on a node that requests 1 CPU and 1 GiB. */
export const node = (name: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { tier: 'old' } },
    status: { allocatable: { cpu: '4', memory: '8Gi', pods: '110' } },
  });

export const pod = (nodeName: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'worker', namespace: 'default' },
    spec: {
      nodeName,
      containers: [{ name: 'main', image: 'example.test/image', resources: { requests: { cpu: '1', memory: '1Gi' } } }],
    },
  });
