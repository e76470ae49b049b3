import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { NAMESPACE } from './installation.ts';

/** The writes that our service account sends, as the audit log of the API server has them. */
export interface WriteLog {
  /** Flags for kube-apiserver. */
  readonly apiServerArgs: readonly string[];
  /**
   * The writes so far that changed something, in their order, such as `create secrets gatehouse-sessions`; a digest at the end of a
   * name is left out. Waits until each write that has begun is over. The log is written before the request is carried out, so no write is missed whose effect was seen.
   */
  read(): Promise<readonly string[]>;
  remove(): Promise<void>;
}

/** https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/ */
const POLICY = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  rules: [
    {
      level: 'Metadata',
      users: [`system:serviceaccount:${NAMESPACE}:gatehouse`],
      verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'],
    },
  ],
};

interface AuditEvent {
  readonly auditID: string;
  readonly stage: 'RequestReceived' | 'ResponseStarted' | 'ResponseComplete' | 'Panic';
  readonly verb: string;
  readonly objectRef: { readonly resource: string; readonly subresource?: string; readonly name?: string };
  readonly responseStatus?: { readonly code: number };
}

/** Reviews are created, and stored nowhere. */
const isReview = ({ objectRef }: AuditEvent): boolean => objectRef.resource.endsWith('reviews');
const isOver = ({ stage }: AuditEvent): boolean => stage === 'ResponseComplete' || stage === 'Panic';

/** A random or a hashed end of a name. */
const DIGEST = /-[0-9a-f]{10,}$/;

const told = ({ verb, objectRef: { resource, subresource, name = '' } }: AuditEvent): string =>
  `${verb} ${subresource === undefined ? resource : `${resource}/${subresource}`} ${name.replace(DIGEST, '')}`;

export async function createWriteLog(): Promise<WriteLog> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-audit-'));
  const [policy, log] = [join(folder, 'policy.json'), join(folder, 'audit.log')];
  await writeFile(policy, JSON.stringify(POLICY));
  const events = async (): Promise<readonly AuditEvent[]> => {
    const text = existsSync(log) ? await readFile(log, 'utf8') : '';
    const whole = text.slice(0, text.lastIndexOf('\n') + 1); // the last line may be half written
    const all = whole.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as AuditEvent]));
    return all.filter((event) => !isReview(event));
  };
  const areOver = (all: readonly AuditEvent[]): boolean =>
    new Set(all.map(({ auditID }) => auditID)).size === all.filter(isOver).length;
  return {
    apiServerArgs: [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`],
    read: async () => {
      const done = (await eventually(events, areOver)).filter(isOver);
      const written = done.filter(({ responseStatus }) => (responseStatus?.code ?? 500) < 300);
      return written.map(told);
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
