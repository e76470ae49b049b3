import type { Config } from '../src/config/config.ts';
import type { Addresses } from '../src/service/service.ts';
import type { SimulatedCluster } from './cluster/cluster.ts';
import type { NewObject } from './cluster/kube-object.ts';

/** The rights that the chart gives to administrators, by plural of their kind. */
export function administratorsRole(platform: string): readonly (readonly [string, NewObject])[] {
  const name = `${platform}-admins`;
  const apiGroup = 'rbac.authorization.k8s.io';
  return [
    [
      'clusterroles',
      {
        metadata: { name },
        rules: [
          {
            apiGroups: [`resources.${platform}.io`],
            resources: ['nodes', 'namespaces'],
            verbs: ['get', 'list', 'watch'],
          },
        ],
      },
    ],
    [
      'clusterrolebindings',
      {
        metadata: { name },
        roleRef: { apiGroup, kind: 'ClusterRole', name },
        subjects: [{ apiGroup, kind: 'Group', name }],
      },
    ],
  ];
}

interface Started {
  readonly config: Config;
  readonly cluster: SimulatedCluster;
  readonly addresses: Addresses;
  readonly tookMs: number;
}

/**
 * Signs in as a user would, and prints the users and some commands to try. Each command is one line that works when
 * pasted.
 */
export async function printCommands({ config, cluster, addresses, tookMs }: Started): Promise<void> {
  const origin = `http://127.0.0.1:${addresses.port}`;
  const { name, password } = firstAdministrator(config, cluster);
  const form = new URLSearchParams({ ...clientOf(config), grant_type: 'password', username: name, password });
  const answer = await fetch(`${origin}/oauth/token`, { method: 'POST', body: form });
  const { access_token: token } = (await answer.json()) as { access_token: string };
  const nodes = `${origin}/kapis/resources.${config.platform}.io/v1alpha3/nodes`;
  const bearer = `-H "Authorization: Bearer ${token}"`;
  const lines = [
    '',
    `Gatehouse is ready after ${Math.round(tookMs)} ms on ${origin}, metrics on http://127.0.0.1:${addresses.metricsPort}/metrics`,
    `User: ${name}   Password: ${password}   (made at random for this run)`,
    '',
    'Sign in, list the nodes, list the nodes that need attention:',
    '',
    `curl -s -d "${form}" ${origin}/oauth/token`,
    '',
    `curl -s ${bearer} ${nodes}`,
    '',
    `curl -s ${bearer} "${nodes}?status=warning&sortBy=name&ascending=true&limit=5"`,
    '',
    'Ctrl-C ends it.',
    '',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

function firstAdministrator({ users }: Config, cluster: SimulatedCluster): { name: string; password: string } {
  const secrets = cluster.objects.list('secrets');
  const secret = secrets.find((one) => one.metadata.name === users.firstAdministrator.secretName);
  const data = (secret?.['data'] ?? {}) as Readonly<Record<string, string>>;
  const decoded = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString();
  return { name: decoded('username'), password: decoded('password') };
}

function clientOf(config: Config): { client_id: string; client_secret: string } {
  const client = config.authentication.oauthOptions.clients[0];
  return { client_id: client?.name ?? '', client_secret: client?.secret ?? '' };
}
