import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { V1Ingress, V1Pod, V1PodList, V1Service } from '@kubernetes/client-node';
import type { Agent, buildConnector } from 'undici';
import { parse } from 'yaml';
import { eventually } from '../../cluster/eventually.ts';
import type { ServerProcess } from '../../support/control-plane/server-process.ts';
import { FormBrowser } from '../../support/form-browser.ts';
import { selfSigned } from '../../support/self-signed.ts';
import { Caller } from '../stand/caller.ts';
import { GatewayStand } from '../stand/gateway-stand.ts';
import { get } from '../stand/kubectl.ts';
import { Way } from '../stand/way.ts';
import { caddyOfPage } from './caddy.ts';
import { connectTo, type FrontPlace, poolTo, startFront } from './front.ts';
import { nginxOfIngress } from './ingress-nginx.ts';
import { nginxOfPage, nginxWith } from './nginx.ts';
import { blockOfPage, HOST } from './page.ts';

/** The proxies, each with an address on loopback of its own, and the third byte of the addresses of its clients. */
const FRONTS = {
  nginx: { address: '127.1.0.1', clients: 1 },
  'ingress-nginx': { address: '127.1.0.2', clients: 2 },
  Caddy: { address: '127.1.0.3', clients: 3 },
} as const;
export type FrontName = keyof typeof FRONTS;

export const FRONT_NAMES = Object.keys(FRONTS) as readonly FrontName[];

/** Of `GatewayStand`. */
const REPLICAS = 2;

/** What Gatehouse sees of them: kube-proxy gives the address of the pods' bridge to what comes from the node. */
export const PROXY_ADDRESS = '10.244.0.1';

/** Headers of a client that claims to be elsewhere. */
export const FORGED = { 'x-forwarded-for': '203.0.113.7', 'x-real-ip': '203.0.113.8' };

/** A program of a web server: prints where the request is said to come from, and the digest of its body. */
export const TELLS = `#!/bin/busybox sh
digest=$(/bin/busybox sha256sum)
printf 'Content-Type: text/plain\\r\\n\\r\\n%s\\n%s\\n' "$HTTP_X_FORWARDED_FOR" "\${digest%% *}"
`;

/** Where the browser is sent after a sign-in. Nobody listens there. */
export const CALLBACK = 'http://127.0.0.1:9';

/** A request of the built-in client, with the longest state that there may be: the answer to the sign-in has it in a header. */
export function authorizationRequest(): { readonly url: string; readonly verifier: string } {
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    ...{ client_id: 'gatehouse', redirect_uri: CALLBACK, response_type: 'code', scope: 'openid groups' },
    ...{ state: 's'.repeat(LONGEST_STATE), nonce: 'n'.repeat(LONGEST_NONCE), code_challenge_method: 'S256' },
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  });
  return { url: `https://${HOST}/oauth/authorize?${query}`, verifier };
}

/** Bytes: B-14 of docs/contract/signin.md. */
const LONGEST_STATE = 2_048;
const LONGEST_NONCE = 512;

/**
 * The values of the page, with this configuration instead of some of it. A node port stays, which tells when kube-proxy leads to the
 * pods.
 */
function valuesWith({ authentication, ...more }: Config): { readonly config: object } {
  const { service: _, config, ...values } = parse(blockOfPage('ingress-nginx', 'yaml'));
  const own = { ...config, ...more, authentication: { ...config.authentication, ...authentication } };
  return { ...values, config: own };
}

interface Config {
  readonly authentication: object;
  readonly gateway?: object;
}

const programOf = {
  nginx: async (place: FrontPlace) => nginxWith(nginxOfPage(place), place),
  'ingress-nginx': async (place: FrontPlace, ingress: V1Ingress) => nginxWith(nginxOfIngress(ingress, place), place),
  Caddy: (place: FrontPlace) => caddyOfPage(place),
} as const satisfies Record<FrontName, unknown>;

interface AuditLine {
  readonly event?: string;
  readonly result?: string;
  readonly user?: string;
  readonly source?: string;
  readonly time: string;
}

/** A release, and proxies in front of it. */
export class ProxyStand {
  readonly gateway: GatewayStand;
  readonly #folder: string;
  readonly #cert: string;
  readonly #running: ServerProcess[] = [];
  readonly #pools: Agent[] = [];

  private constructor(gateway: GatewayStand, folder: string, cert: string) {
    this.gateway = gateway;
    this.#folder = folder;
    this.#cert = cert;
  }

  /** A release with the values of the page and this configuration, and the proxies. */
  static async start(namespace: string, config: Config): Promise<ProxyStand> {
    const { cert, key } = selfSigned(HOST);
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-proxies-'));
    await writeFile(join(folder, 'tls.crt'), cert);
    await writeFile(join(folder, 'tls.key'), key);
    const gateway = await GatewayStand.start(namespace, { values: valuesWith(config), isBehindProxy: true });
    const stand = new ProxyStand(gateway, folder, cert);
    for (const name of FRONT_NAMES) await stand.#startFront(name);
    return stand;
  }

  /** Somebody at this address, from 1 on, who comes by the proxy. */
  caller(name: FrontName, client: number): Caller {
    const pool = poolTo(FRONTS[name].address, this.#cert, clientOf(name, client));
    this.#pools.push(pool);
    return new Caller(`https://${HOST}`, pool);
  }

  browser(name: FrontName, stopsAt: (url: URL) => boolean): FormBrowser {
    return new FormBrowser({ stopsAt, connect: this.connect(name) });
  }

  /** Somebody with kubectl and this token, who comes by the proxy. */
  way(name: FrontName, token: string): Promise<Way> {
    return Way.open({
      namespace: this.gateway.namespaces[1],
      server: `https://${FRONTS[name].address}`,
      caFile: join(this.#folder, 'tls.crt'),
      serverName: HOST,
      token,
      home: this.#folder,
      name,
    });
  }

  /** How a client connects that comes by the proxy. */
  connect(name: FrontName): buildConnector.BuildOptions {
    return connectTo(FRONTS[name].address, this.#cert);
  }

  /** Upgrades the release to this configuration. */
  async upgrade(config: Config): Promise<void> {
    const { release } = this.gateway;
    await release.upgrade(this.gateway.valuesWith(valuesWith(config)));
    const pods = async () => (await release.get<V1PodList>('pods')).items.length;
    await eventually(pods, (count) => count === REPLICAS); // those that were replaced have ended
  }

  /** Host and port of the Service. */
  async serviceAddress(): Promise<string> {
    const { release } = this.gateway;
    const { spec } = await release.get<V1Service>('service', release.fullname);
    return `${spec?.clusterIP}:${spec?.ports?.[0]?.port}`;
  }

  async podAddress(name: string): Promise<string> {
    const { status } = await get<V1Pod>('--namespace', this.gateway.namespaces[1], 'pod', name);
    return `${status?.podIP}`;
  }

  /** Resolves when the last sign-in of this user in the audit trail came from this address. */
  async untilFrom(user: string, address: string): Promise<void> {
    await eventually(
      () => this.#lastSource(user),
      (source) => source === address,
    );
  }

  async #lastSource(user: string): Promise<string | undefined> {
    const logs = await this.gateway.release.kubectl([
      'logs',
      '--selector=app.kubernetes.io/name=gatehouse',
      '--tail=-1',
    ]);
    const lines = logs.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as AuditLine] : []));
    const own = lines.filter((line) => line.event === 'sign_in' && line.result === 'ok' && line.user === user);
    return own.toSorted((one, other) => (one.time < other.time ? -1 : 1)).at(-1)?.source;
  }

  /** What the proxies have said. */
  async logs(): Promise<string> {
    const logs = FRONT_NAMES.map((name) => readFile(join(this.#folder, name, 'log'), 'utf8').catch(() => ''));
    return (await Promise.all(logs)).join('');
  }

  async remove(): Promise<void> {
    for (const pool of this.#pools) await pool.destroy();
    for (const server of this.#running) await server.terminate();
    await this.gateway.remove();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #startFront(name: FrontName): Promise<void> {
    const { release } = this.gateway;
    const folder = join(this.#folder, name);
    await mkdir(folder);
    const place = {
      folder,
      address: FRONTS[name].address,
      service: await this.serviceAddress(),
      certFile: join(this.#folder, 'tls.crt'),
      keyFile: join(this.#folder, 'tls.key'),
    };
    const ingress = await release.get<V1Ingress>('ingress', release.fullname);
    this.#running.push(await startFront(place, this.#cert, await programOf[name](place, ingress)));
  }
}

/** The address of a client. */
export const clientOf = (name: FrontName, client: number): string => `127.2.${FRONTS[name].clients}.${client}`;
