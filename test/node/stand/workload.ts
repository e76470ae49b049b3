import { BUSYBOX } from '../image/images.ts';

/** Where the bench has the programs of busybox, and files: its image has but the one program. */
const PROGRAMS = '/usr/local/bin';

/** A line of a shell in the container, once all programs are on its path. */
export const shell = (line: string): string[] => ['/bin/busybox', 'sh', '-c', line];

const metadata = (name: string): object => ({ name, labels: { app: name } });

interface PodOptions {
  readonly command: readonly string[];
  readonly stdin?: boolean;
  /** Whether it is ready only when it listens. */
  readonly listens?: boolean;
}

/** It is over once the server listens, so it cannot take the pod out of service later, as a readiness probe could. */
const startupProbe = { tcpSocket: { port: 8080 }, periodSeconds: 1, failureThreshold: 120 };

/** Ends as soon as it is told to: without a handler, process 1 of a container would wait for the grace period to end. */
const podSpec = ({ command, stdin = false, listens = false }: PodOptions): object => ({
  terminationGracePeriodSeconds: 0,
  automountServiceAccountToken: false,
  dnsPolicy: 'Default', // there is no DNS
  containers: [
    {
      name: 'main',
      image: BUSYBOX,
      command,
      stdin,
      stdinOnce: stdin,
      ports: [{ containerPort: 8080 }],
      ...(listens && { startupProbe }),
      volumeMounts: [
        { name: 'files', mountPath: '/tmp' },
        { name: 'programs', mountPath: PROGRAMS },
      ],
    },
  ],
  volumes: [
    { name: 'files', emptyDir: {} },
    { name: 'programs', emptyDir: {} },
  ],
});

/** A pod that is started once. */
export const pod = (name: string, options: PodOptions): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: metadata(name),
  spec: { ...podSpec(options), restartPolicy: 'Never' },
});

/** A server of the files in /tmp, whose container has a shell, tar and all else of busybox. */
const SERVE = shell(`/bin/busybox --install -s ${PROGRAMS} && echo ready && exec httpd -f -p 8080 -h /tmp`);

export const BENCH = pod('bench', { command: SERVE, listens: true });

export const configMap = (data: object): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: metadata('settings'),
  data,
});

/** So many pods of one kind, by default one. */
export const deployment = (name: string, options: PodOptions, replicas = 1): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: metadata(name),
  spec: {
    replicas,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: podSpec(options) },
  },
});

export const WEB = deployment('web', { command: SERVE, listens: true });

const SERVICE = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: metadata('web'),
  spec: { selector: { app: 'web' }, ports: [{ port: 8080 }] },
};

/** As `kubectl apply -f -` reads them. */
export const list = (...items: readonly object[]): string => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });

export const WORKLOAD = list(configMap({ color: 'red' }), WEB, SERVICE, BENCH);
