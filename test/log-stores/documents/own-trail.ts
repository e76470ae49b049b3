import { startWriteStand, type WriteStand, type WriteStandOptions } from '../../support/accounts/write-stand.ts';

/** What somebody did, as the search of audit records tells it: a query, and what the newest record that it finds must have. */
interface DoneAct {
  readonly query: Readonly<Record<string, string>>;
  readonly record: object;
}

/** The acts of `doActs`. */
export const OWN_ACTS: readonly DoneAct[] = [
  {
    query: {
      objectref_resource_filter: 'users',
      verb_filter: 'create',
      user_filter: 'admin',
      response_code_filter: '200',
    },
    record: {
      User: { Username: 'admin', Groups: ['gatehouse-admins', 'system:authenticated'] },
      ObjectRef: { Resource: 'users', Name: 'grace', APIGroup: 'iam.gatehouse.io' },
    },
  },
  {
    query: { objectref_subresource_filter: 'sessions', response_status_filter: 'Failure', user_search: 'anon' },
    record: {
      User: { Username: 'system:anonymous' },
      ResponseStatus: { status: 'Failure', reason: 'invalid_grant', code: 400 },
    },
  },
  {
    query: { objectref_namespace_filter: 'shop', objectref_name_search: 'ettin', source_ip_search: '127.0.0' },
    record: {
      ...{
        User: { Username: 'admin' },
        Verb: 'delete',
        SourceIPs: ['127.0.0.1'],
        RequestURI: '/api/v1/namespaces/shop/configmaps/settings',
      },
      ObjectRef: { Resource: 'configmaps', Namespace: 'shop', Name: 'settings', APIVersion: 'v1' },
      ResponseStatus: { status: 'Failure', code: 403 },
    },
  },
];

/** A Gatehouse that writes its audit trail as audit records; `onLine` gets each line of its log. */
export async function startOwnTrail(
  onLine: (line: string) => void,
  options: WriteStandOptions = {},
): Promise<WriteStand> {
  const config = { log: { auditFormat: 'kubernetes' }, gateway: { enabled: true }, ...options.config };
  const stand = await startWriteStand({
    ...options,
    config,
    output: { write: onLine, lost: () => ({ audit: 0, other: 0 }) },
  });
  const metadata = { name: 'settings', namespace: 'shop' };
  stand.cluster.objects.create('namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
  stand.cluster.objects.create('configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata });
  return stand;
}

/** Makes an account, tries a password of a user that does not exist, and asks to delete an object of the cluster without the right. */
export async function doActs(stand: WriteStand): Promise<void> {
  await stand.create('grace');
  await stand.signIn('made-up', 'Made-up-1');
  await stand.ask('DELETE', '/api/v1/namespaces/shop/configmaps/settings');
}
