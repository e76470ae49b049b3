import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RealStore, startStore } from '../../../log-stores/real-store.ts';
import { type ServerProcess, startServer } from '../../../support/control-plane/server-process.ts';
import { selfSigned } from '../../../support/self-signed.ts';
import { NODE_ADDRESS } from '../../kubernetes/place.ts';
import { openStoreDoor, type StoreDoor } from './store-door.ts';

const PORT = 9200;
/** Debian has it where only root's PATH looks. */
const RSYSLOGD = '/usr/sbin/rsyslogd';
/** The users of the store, with what they write into requests and files: nothing that has to be escaped. */
export const STORE_USERS = { gatehouse: 'reads-only', collector: 'writes-only', operator: 'does-all' } as const;

/**
 * An OpenSearch 2 beside the node, which takes 300 MB, and a few seconds to start. It listens on loopback. Pods come to it by its door, at the node's
 * address, with TLS and a password.
 */
export class NodeStore {
  /** The address for pods; it is known before anybody listens there. */
  static readonly url = `https://${NODE_ADDRESS}:${PORT}`;
  /** That of the door, which is its own CA. */
  readonly certificate: string;
  readonly #folder: string;
  readonly #key: string;
  #store: RealStore | undefined;
  #door: StoreDoor | undefined;
  #collector: ServerProcess | undefined;

  private constructor(folder: string, { cert, key }: ReturnType<typeof selfSigned>) {
    this.#folder = folder;
    this.certificate = cert;
    this.#key = key;
  }

  /** With a certificate, and nothing that listens yet. */
  static async create(): Promise<NodeStore> {
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-node-store-'));
    return new NodeStore(folder, selfSigned('logs.example', { addresses: [NODE_ADDRESS] }));
  }

  /** Starts the store and opens its door. */
  async open(): Promise<void> {
    this.#store = await startStore('opensearch-2');
    this.#door = await openStoreDoor({
      store: this.#store.url,
      address: NODE_ADDRESS,
      port: PORT,
      certificate: { cert: this.certificate, key: this.#key },
      users: STORE_USERS,
    });
  }

  /** The store itself, for an operator and for a collector that knows neither TLS nor passwords. */
  get inside(): RealStore {
    if (!this.#store) throw new Error('the store was not opened');
    return this.#store;
  }

  /** Starts rsyslog with the settings that come of the folder in which it may write. */
  async collect(settings: (folder: string) => string): Promise<void> {
    if (!existsSync(RSYSLOGD))
      throw new Error("the collector is missing: install Debian's rsyslog and rsyslog-elasticsearch");
    const spool = join(this.#folder, 'spool');
    await mkdir(spool);
    const file = join(this.#folder, 'rsyslog.conf');
    await writeFile(file, settings(spool));
    const args = ['-n', '-f', file, '-i', join(this.#folder, 'rsyslog.pid')];
    this.#collector = startServer(RSYSLOGD, args, join(this.#folder, 'rsyslog.log'));
  }

  /** Ends the store, as clients see it. */
  async close(): Promise<void> {
    await this.#door?.close();
    this.#door = undefined;
    await this.#store?.stop();
    this.#store = undefined;
  }

  async remove(): Promise<void> {
    await this.#collector?.terminate();
    await this.close();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
