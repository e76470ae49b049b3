import { describe, expect, test } from 'vitest';
import { notes } from './helm.ts';

const CLEAR =
  'Passwords and tokens are sent in clear up to the Service: set tls.existingSecret or tls.certManager.issuerRef, or end TLS in front of it.';
const PASSWORD =
  "kubectl -n gatehouse-system get secret gatehouse-first-administrator -o jsonpath='{.data.password}' | base64 -d";
const UNINSTALL = [
  '"helm uninstall" leaves the Secrets that Gatehouse made: signing keys, sessions, the first administrator. This deletes those of the namespace:',
  '  kubectl -n gatehouse-system delete secret -l app.kubernetes.io/managed-by=gatehouse',
  'It leaves the ConfigMaps with its configuration as well:',
  '  kubectl -n gatehouse-system delete configmap -l app.kubernetes.io/instance=gatehouse,app.kubernetes.io/component=configuration',
];
const NODE_PORT =
  "http://$(kubectl get nodes -o jsonpath='{.items[0].status.addresses[0].address}'):$(kubectl -n gatehouse-system get service gatehouse -o jsonpath='{.spec.ports[0].nodePort}')";
const PAGE = [
  'The page for people is at the address that this prints; open it in a browser:',
  `  echo "${NODE_PORT}/"`,
];
const nobody = { config: { users: { firstAdministrator: false } }, helmTest: { enabled: false } };

describe('NOTES', () => {
  test('say the address, how to read the node port and the first password, how to test it and what an uninstall leaves', async () => {
    expect(await notes({})).toEqual([
      'Gatehouse answers inside the cluster at http://gatehouse.gatehouse-system.svc, outside at http:// and a port of every node:',
      "  kubectl -n gatehouse-system get service gatehouse -o jsonpath='{.spec.ports[0].nodePort}'",
      CLEAR,
      ...PAGE,
      'The first administrator is "admin"; the password, once the pod is ready:',
      `  ${PASSWORD}`,
      'To sign in as "admin", which prints the tokens:',
      `  ${PASSWORD} | curl -sS -d client_id=gatehouse -d grant_type=password -d username=admin --data-urlencode password@- "${NODE_PORT}/oauth/token"`,
      'To see that it works: helm test gatehouse -n gatehouse-system',
      ...UNINSTALL,
    ]);
  });

  test('say the node port when it is set, and nothing of an administrator and a test that there are not', async () => {
    expect(await notes({ service: { nodePort: 30880 }, ...nobody })).toEqual([
      'Gatehouse answers inside the cluster at http://gatehouse.gatehouse-system.svc, outside at http://<address of a node>:30880.',
      CLEAR,
      ...PAGE,
      ...UNINSTALL,
    ]);
  });

  test.each([
    [
      { issuer: 'https://a.example.com/oauth' },
      ['The page for people is at https://a.example.com/; open it in a browser.'],
    ],
    [{ service: { type: 'ClusterIP' } }, ['The page for people is at http://localhost:8080/; open it in a browser.']],
    [{ config: { page: null } }, PAGE],
    [
      { service: { type: 'LoadBalancer', port: 8080 } },
      [
        PAGE[0],
        `  echo "http://$(kubectl -n gatehouse-system get service gatehouse -o jsonpath='{.status.loadBalancer.ingress[0].ip}{.status.loadBalancer.ingress[0].hostname}'):8080/"`,
      ],
    ],
    [{ config: { page: { enabled: false } } }, []],
  ])('W-07 say where the page for people is, where there is one: %j', async (values, expected) => {
    const lines = await notes(values);
    const at = lines.findIndex((line) => line.includes('page for people'));
    expect(at === -1 ? [] : lines.slice(at, at + Math.max(expected.length, 1))).toEqual(expected);
  });

  test('say how to read the address of a load balancer', async () => {
    const [first, second] = await notes({ service: { type: 'LoadBalancer', port: 8080 } });
    expect(first).toBe(
      'Gatehouse answers inside the cluster at http://gatehouse.gatehouse-system.svc:8080, outside at http://, port 8080 of the load balancer, once it has an address:',
    );
    expect(second).toBe(
      "  kubectl -n gatehouse-system get service gatehouse -o jsonpath='{.status.loadBalancer.ingress[0].ip}{.status.loadBalancer.ingress[0].hostname}'",
    );
  });

  test('say how to reach a Service that is not reachable from outside', async () => {
    expect((await notes({ service: { type: 'ClusterIP' } })).slice(0, 2)).toEqual([
      'Gatehouse answers inside the cluster at http://gatehouse.gatehouse-system.svc, and from here, at http://localhost:8080, while this runs:',
      '  kubectl -n gatehouse-system port-forward service/gatehouse 8080:80',
    ]);
  });

  test.each([
    [{ issuer: 'https://a.example.com/oauth' }, 'https://a.example.com/oauth/token'],
    [{ service: { type: 'ClusterIP' } }, 'http://localhost:8080/oauth/token'],
    [
      { service: { type: 'LoadBalancer', port: 8080 } },
      `"http://$(kubectl -n gatehouse-system get service gatehouse -o jsonpath='{.status.loadBalancer.ingress[0].ip}{.status.loadBalancer.ingress[0].hostname}'):8080/oauth/token"`,
    ],
  ])('say how to sign in at the address that people use: %j', async (values, address) => {
    const command = (await notes(values)).find((line) => line.includes('grant_type=password'));
    expect(command?.split(' password@- ')[1]).toBe(address);
  });

  test('say how to sign in with a client’s secret, and nothing of it where config lists the clients', async () => {
    const oauth = { client: { existingSecret: 'console' } };
    const command = (values: object) =>
      notes(values).then((lines) => lines.find((line) => line.includes('grant_type')));
    expect(await command({ oauth })).toContain(
      ` -u "gatehouse:$(kubectl -n gatehouse-system get secret console -o jsonpath='{.data.secret}' | base64 -d)" `,
    );
    expect(await command({ oauth: { client: { generate: true } } })).toContain(
      ` -u "gatehouse:$(kubectl -n gatehouse-system get secret gatehouse-oauth-client -o jsonpath='{.data.secret}' | base64 -d)" `,
    );
    expect(await command({ platform: 'kubesphere' })).toContain(' curl -sS -u kubesphere:kubesphere -d ');
    const clients = [{ name: 'a', public: true, grantTypes: ['refresh_token'] }];
    expect(await command({ config: { authentication: { oauthOptions: { clients } } } })).toBeUndefined();
  });

  test('say https where it speaks HTTPS, and which certificate it shows', async () => {
    expect(await notes({ tls: { existingSecret: 'certificate' }, service: { port: 443 }, ...nobody })).toEqual([
      'Gatehouse answers inside the cluster at https://gatehouse.gatehouse-system.svc, outside at https:// and a port of every node:',
      "  kubectl -n gatehouse-system get service gatehouse -o jsonpath='{.spec.ports[0].nodePort}'",
      'The API port and the metrics port speak HTTPS with the certificate in the Secret certificate; a renewed one is used without a restart.',
      ...PAGE.map((line) => line.replace('http:', 'https:')),
      ...UNINSTALL,
    ]);
  });

  test('CO-14 name the setting for the websockets of the console, where it can open any and has no address yet', async () => {
    const line =
      "The console of KubeSphere 3.4 shows no changes by itself until config.cors.origins has its address, for example config: {cors: {origins: ['http://console.example.com:30880']}}.";
    const open = { platform: 'kubesphere', gateway: { enabled: true, users: ['admin'] } };
    expect(await notes(open)).toContain(line);
    const cors = (origins: readonly string[]): object => ({ ...open, config: { cors: { origins } } });
    expect(await notes(cors([]))).toContain(line);
    expect(await notes(cors(['https://console.example.com']))).not.toContain(line);
    expect(await notes({ platform: 'kubesphere' })).not.toContain(line);
    expect(await notes({ ...open, platform: 'gatehouse' })).not.toContain(line);
  });

  test('warn of sessions in memory', async () => {
    expect(await notes({ sessions: { store: 'memory' } })).toContain(
      'WARNING: sessions.store is memory. Each restart of the pod forgets which sessions were ended: their access tokens are good again until they expire, and everybody has to sign in again when theirs has expired.',
    );
  });

  test('warn of rights that reach every Secret of the cluster', async () => {
    const secrets = [{ apiGroups: [''], resources: ['secrets'], verbs: ['list', 'watch'] }];
    const warning = (why: string): string =>
      `WARNING: ${why}. The service account may list every Secret of the cluster: a thief of its token has every password and token in them.`;
    expect(await notes({ kinds: { rights: 'all' } })).toContain(warning('kinds.rights is all'));
    expect(await notes({ kinds: { extraRules: secrets }, config: { kinds: { secrets: 'metadata' } } })).toContain(
      warning('kinds.extraRules has secrets'),
    );
    const granted = await notes({ kinds: { rights: 'all' }, rbac: { create: false } });
    expect(granted.filter((line) => line.startsWith('WARNING'))).toEqual([]);
  });

  test('say who has to be let read the other kinds, where the chart does not', async () => {
    const line =
      'Lists of other kinds than nodes and namespaces are 403 to everybody until somebody lets the service account gatehouse get, list and watch them.';
    expect(await notes({ kinds: { rights: 'none' } })).toContain(line);
    expect(await notes({ kinds: { rights: 'none' }, config: { kinds: { enabled: false } } })).not.toContain(line);
  });

  test('warn of an issuer that cannot be reached by the callers of an Ingress', async () => {
    const ingress = { enabled: true, hosts: ['a.example.com', 'b.example.com'] };
    const lines = await notes({ service: { type: 'ClusterIP' }, ingress });
    expect(lines[0]).toBe('Gatehouse answers inside the cluster at http://gatehouse.gatehouse-system.svc');
    expect(lines[1]).toBe('The Ingress passes on a.example.com, b.example.com.');
    expect(lines.at(-2)).toBe(
      'WARNING: issuer is empty, so tokens name http://gatehouse.gatehouse-system.svc/oauth, which cannot be reached from outside. Set it before people sign in.',
    );
  });

  test('warn of an Ingress or an HTTPRoute whose controller hides who is calling, with an example', async () => {
    const ingress = { enabled: true, hosts: ['a.example.com'] };
    const httpRoute = { enabled: true, parentRefs: [{ name: 'public' }] };
    const issuer = 'https://a.example.com/oauth';
    const warnings = async (values: object) =>
      (await notes({ issuer, ...values })).filter((line) => line.startsWith('WARNING'));
    const sentence = (what: string) =>
      `WARNING: config.authentication.trustedProxies is empty, so everybody who comes by the ${what} has the address of its controller, and shares its limit of failed sign-ins. Name the addresses of the controller's pods, for example config: {authentication: {trustedProxies: [10.244.0.0/16]}}.`;
    expect(await warnings({ ingress })).toEqual([sentence('Ingress')]);
    expect(await warnings({ httpRoute })).toEqual([sentence('HTTPRoute')]);
    expect(await warnings({ ingress, config: { authentication: { trustedProxies: ['10.244.0.0/16'] } } })).toEqual([]);
    expect(await warnings({})).toEqual([]);
  });
});
