import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inject } from 'vitest';
import { parse } from 'yaml';
import { hashPassword } from '../../../src/users/password-hash.ts';
import { clusterTool } from '../../support/cluster-tools.ts';
import { tellMeasured } from '../../support/measured.ts';
import { documentedCommands, documentedFile } from './documented-commands.ts';
import { kubectl } from './kubectl.ts';
import { Release } from './release.ts';
import { Shell } from './shell.ts';
import { NodeStore, STORE_USERS } from './stores/node-store.ts';

/** Blocks inside of numbered lists are blocks like all others. */
const PAGE = (await readFile(join(import.meta.dirname, '..', '..', '..', 'docs', 'logs.md'), 'utf8')).replace(
  /^ {3}/gm,
  '',
);
/** The page's names of what is elsewhere here. */
const STORE_OF_PAGE = 'https://opensearch.logging.svc:9200';
const NAMESPACE_OF_PAGE = 'gatehouse-system';

/** The people who sign in besides the administrator, and their groups. */
const PEOPLE = { dora: ['developers'], gustav: [] } as const satisfies Record<string, readonly string[]>;
type Person = keyof typeof PEOPLE;

const passwordOf = (person: Person): string => `${person}-password`;

/** A log store, a collector of the node's logs and a release with log queries, set up as docs/logs.md says. */
export class LoggingStand {
  readonly release: Release;
  readonly #folder: string;
  #shell: Shell | undefined;
  #store: NodeStore | undefined;

  private constructor(namespace: string, folder: string) {
    this.release = new Release(namespace);
    this.#folder = folder;
  }

  /** `developed` is a namespace that is made, whose logs the group `developers` may read. */
  static async start(namespace: string, developed: string): Promise<LoggingStand> {
    const stand = new LoggingStand(namespace, await mkdtemp(join(tmpdir(), 'gatehouse-logging-')));
    try {
      await stand.#start(developed);
    } catch (error) {
      await stand.remove();
      throw error;
    }
    return stand;
  }

  async signIn(person: Person | 'admin'): Promise<string> {
    const password = person === 'admin' ? await this.release.password() : passwordOf(person);
    return (await (await this.release.caller()).signIn(password, person)).access_token;
  }

  /** The commands of the page that let the group `developers` read logs; with `part`, those of them that have it. */
  async giveRights(part = ''): Promise<void> {
    const commands = blockOf('Who sees what, 1')
      .split('\n')
      .filter((line) => line.includes(part));
    await this.#shell!.run(commands.join('\n').replaceAll(NAMESPACE_OF_PAGE, this.release.namespace));
  }

  /** The commands of the page with which an administrator sees everything. */
  async letAdministratorRead(): Promise<void> {
    await this.#shell!.run(blockOf('Who sees what, 2'));
  }

  /** What the page's question for a right of Dora's says when it is asked about this person, in these groups. */
  async asksForRight(person: Person): Promise<string> {
    const groups = PEOPLE[person].map((group) => ` --as-group ${group}`).join('');
    const question = replaced(blockOf('Who sees what, 3'), [
      [' --as dora --as-group developers', ` --as ${person}${groups}`],
    ]);
    return this.#shell!.run(`${question.trim()} || true`);
  }

  /** Ends the store, as clients see it. */
  async stopStore(): Promise<void> {
    await this.#store?.close();
  }

  async remove(): Promise<void> {
    await this.release.remove();
    await kubectl(['delete', 'clusterrolebinding', 'log-readers', '--ignore-not-found']);
    await this.#store?.remove();
    await this.#shell?.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #start(developed: string): Promise<void> {
    const { namespace } = this.release;
    await this.#sitDown();
    for (const name of [namespace, developed]) await kubectl(['create', 'namespace', name]);
    await this.#makeUsers();
    await this.#shell!.run(replaced(blockOf('Set it up, 1'), [[NAMESPACE_OF_PAGE, namespace]]));
    await Promise.all([this.#collect(), this.#install()]);
    await this.giveRights();
  }

  /** A shell of an operator, with the files that the page names. */
  async #sitDown(): Promise<void> {
    this.#store = await NodeStore.create();
    await writeFile(this.#path('ca.crt'), this.#store.certificate);
    await writeFile(this.#path('password.txt'), STORE_USERS.gatehouse);
    const PATH = [dirname(await clusterTool('kubectl')), process.env['PATH']].join(':');
    const env = { KUBECONFIG: inject('kubeconfig') };
    this.#shell = new Shell(this.#folder, { ...process.env, PATH, ...env });
  }

  async #makeUsers(): Promise<void> {
    const users = Object.entries(PEOPLE).map(async ([name, groups]) => {
      return { name, groups, passwordHash: await hashPassword(passwordOf(name as Person), 10) };
    });
    const file = { 'users.yaml': JSON.stringify({ users: await Promise.all(users) }) };
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'people' }, stringData: file };
    await this.release.kubectl(['apply', '-f', '-'], JSON.stringify(secret));
  }

  async #install(): Promise<void> {
    const values = parse(documentedFile(PAGE, 'Set it up', 'yaml'));
    values.logging.host = NodeStore.url;
    const began = performance.now();
    await this.release.install({
      ...values,
      users: { existingSecret: 'people' },
      networkPolicy: { enabled: true },
    });
    tellMeasured('logging', performance.now() - began, 'from helm install to the ready pod');
  }

  async #collect(): Promise<void> {
    const began = performance.now();
    await this.#store!.open();
    const template = replaced(blockOf('What the store has to have, 1'), [
      ['admin:$STORE_PASSWORD', `operator:${STORE_USERS.operator}`],
      [STORE_OF_PAGE, NodeStore.url],
    ]);
    const answer = await this.#shell!.run(template);
    if (answer !== '{"acknowledged":true}') throw new Error(`the store refuses the template: ${answer}`);
    tellMeasured('logging', performance.now() - began, 'from the start of the store to its template');
    const settings = documentedFile(PAGE, 'A collector: rsyslog', 'text');
    await this.#store!.collect((folder) =>
      replaced(settings, [
        ['/var/spool/rsyslog', folder],
        ['/etc/rsyslog/log-store-ca.crt', this.#path('ca.crt')],
        [STORE_OF_PAGE, NodeStore.url],
        ['<password>', STORE_USERS.collector],
      ]),
    );
  }

  #path(name: string): string {
    return join(this.#folder, name);
  }
}

/** The `sh` block of the page under this heading, and its place there. */
function blockOf(name: string): string {
  const block = documentedCommands(PAGE).find((one) => one.name === name);
  if (!block) throw new Error(`docs/logs.md has no block "${name}"`);
  return block.text;
}

type Changes = readonly (readonly [word: string, by: string])[];

/** Throws for a word that is not there: then the page has changed. */
function replaced(text: string, changes: Changes): string {
  return changes.reduce((left, [word, by]) => {
    if (!left.includes(word)) throw new Error(`docs/logs.md does not say ${word} there`);
    return left.replaceAll(word, by);
  }, text);
}
