import { isAbsolute, join } from 'node:path';
import { loadConfig } from '../../config/load.ts';
import { ConfigError, type Problem } from '../../config/problem.ts';
import { whyRefused } from '../../config/refused-settings.ts';
import { MOUNTED_AT, toChartValues } from './chart-values.ts';
import { importClients, type SecretFile } from './imported-clients.ts';
import { readOldConfig, type Settings } from './old-config.ts';
import { exactText, memberOf, saysSomething, shownName } from './old-values.ts';
import { type PrintedSetting, printConfig } from './print-config.ts';
import { isSection, type OldSetting, oldSettings, takenFor } from './taken-settings.ts';

interface ImportParts {
  /** Where files with secrets will be written; without one, what needs a secret is left out. */
  readonly secretsFolder?: string | undefined;
  /** Whether the text is to be values of the Helm chart. The files then have the paths of the pod, whose Secret is made of them. */
  readonly forChart?: boolean | undefined;
  /** Reads a file that the old configuration names; throws if it cannot be read. */
  readFile(path: string): string;
}

/** A configuration of ours, and the files that it needs. */
export interface ImportedConfig {
  readonly text: string;
  readonly files: readonly SecretFile[];
}

/**
 * Turns a configuration file of KubeSphere 3.1 to 4.0 (`kubesphere.yaml`, or the ConfigMap with it) into one of ours. The text says what became of
 * each setting, has no secret, and is one that `--check-config` finds good. Otherwise returns in one sentence why the file cannot be read.
 */
export function importConfig(text: string, parts: ImportParts): ImportedConfig | { readonly fault: string } {
  const old = readOldConfig(text);
  if ('fault' in old) return old;
  const isMounted = parts.forChart === true && parts.secretsFolder !== undefined;
  const draft = new Draft(isMounted ? { ...parts, secretsFolder: MOUNTED_AT } : parts);
  for (const setting of oldSettings(old.settings)) draft.take(setting);
  draft.takeCredentials(old.settings);
  draft.dropWhatIsRefused();
  draft.recordTrail();
  return draft.finish();
}

/** A name that is no path of settings: for the check. */
const CHECKED = 'the imported configuration';
/** More settings than there are, so that the check ends in any case. */
const MOST_CHECKS = 100;

const CLIENTS = 'authentication.oauthOptions.clients';
const CLIENT_PATH = /^authentication\.oauthOptions\.clients\[(\d+)\]\.?(.*)$/;

/** The sections of stores. */
const STORES = ['logging', 'events', 'auditing'] as const;

const PRESET: readonly PrintedSetting[] = [
  { name: 'platform', value: 'kubesphere', comment: 'clients of 3.x call the same paths' },
  {
    name: 'accounts.enabled',
    value: true,
    comment: 'users are objects of the cluster, as in 3.x; the chart has their definitions',
  },
];

class Draft {
  readonly #parts: ImportParts;
  readonly #settings = new Map<string, PrintedSetting>(PRESET.map((setting) => [setting.name, setting]));
  readonly #files: SecretFile[] = [];
  readonly #changed: string[] = [];
  readonly #leftOut: string[] = [];

  constructor(parts: ImportParts) {
    this.#parts = parts;
  }

  take({ name, value }: OldSetting): void {
    const lower = name.toLowerCase();
    if (lower === 'authentication.oauthoptions.clients') this.#takeClients(value);
    else if (!CREDENTIALS.has(lower)) this.#takeOne({ name, value });
  }

  #takeOne({ name, value }: OldSetting): void {
    const taken = takenFor(name);
    const why = isSection(name) ? 'is no section of settings' : reason(name);
    if (!taken) return void this.#leftOut.push(`${shownName(name)} ${why}`);
    const read = taken.read(value);
    if (read === undefined) return void this.#leftOut.push(`${name} has not the form of a value that 3.x would take`);
    if (read === '') return;
    if (taken.to.endsWith('.accessTokenMaxAge') && read === '0s')
      return void this.#changed.push(
        `${name} was 0: tokens lived for ever, which is not offered; the default stands, and clients refresh`,
      );
    if (taken.to === 'kubernetes.kubeconfig' && (this.#parts.forChart || !this.#isReadable(String(read))))
      return void this.#leftOut.push(`${name} names a file that cannot be read here; in a pod none is needed`);
    const comment = String(read) === String(value) ? 'as it was' : `was ${JSON.stringify(value)}`;
    this.#settings.set(taken.to, { name: taken.to, value: read, comment });
  }

  #takeClients(value: unknown): void {
    const { clients, files, notes } = importClients(value, this.#parts.secretsFolder);
    this.#files.push(...files);
    this.#changed.push(...notes);
    if (clients) this.#settings.set(CLIENTS, { name: CLIENTS, value: clients, comment: 'the secrets are in files' });
  }

  takeCredentials(old: Settings): void {
    for (const section of STORES) this.#takeCredentialsOf(section, memberOf(old, section));
  }

  /** 3.x sends records of what people do at it to the store of audit records: the trail takes their form if there is such a store. */
  recordTrail(): void {
    if (!this.#settings.has('auditing.host')) return;
    const comment =
      'the audit trail has the form of the records in that store; its collector has to read the log of Gatehouse (docs/audit.md)';
    this.#settings.set('log.auditFormat', { name: 'log.auditFormat', value: 'kubernetes', comment });
  }

  /** The user and the password of a store: both or none. */
  #takeCredentialsOf(section: (typeof STORES)[number], store: unknown): void {
    const given = ['username', 'password'].map((name) => [`${section}.${name}`, memberOf(store, name)] as const);
    const said = given.filter(([, value]) => saysSomething(value));
    const leave = (why: string): void => void this.#leftOut.push(`${said.map(([name]) => name).join(' and ')} ${why}`);
    if (said.length === 0) return;
    if (!this.#settings.has(`${section}.host`)) return void leave(`had no ${section}.host that could be taken over`);
    if (memberOf(store, 'basicAuth') === false)
      return void leave(`${said.length === 1 ? 'was' : 'were'} not used, because ${section}.basicAuth was false`);
    if (said.length === 1) return void leave('stood alone: credentials are a user and a password');
    const [username, password] = given.map(([, value]) => exactText(value));
    if (username === undefined || password === undefined)
      return void leave('are not both texts that can be read exactly; write each in quotes');
    const folder = this.#parts.secretsFolder;
    if (folder === undefined)
      return void this.#leftOut.push(
        `${section}.username and ${section}.password: the password belongs into a file; run this again with --secrets DIR, or set ${section}.username and ${section}.passwordFile`,
      );
    // The chart mounts one Secret for logs, under this name; other stores are for extra volumes.
    const isOfChart = this.#parts.forChart && section === 'logging';
    const path = join(folder, isOfChart ? 'password' : `${section}-password`);
    this.#files.push({ path, content: password });
    this.#set(`${section}.username`, username, 'as it was');
    this.#set(`${section}.passwordFile`, path, `was ${section}.password`);
  }

  #set(name: string, value: string, comment: string): void {
    this.#settings.set(name, { name, value, comment });
  }

  /** Lets the program's own check judge, and leaves out what it refuses, with its words. */
  dropWhatIsRefused(): void {
    for (let check = 0; check < MOST_CHECKS; check++) {
      const problem = this.#firstProblem();
      if (!problem || !this.#drop(problem)) return;
    }
  }

  /** Whether something could be left out because of the problem. */
  #drop({ path, message }: Problem): boolean {
    const [, client, setting = ''] = CLIENT_PATH.exec(path) ?? [];
    if (client !== undefined) return this.#dropClient(Number(client), `its ${setting} ${message}`);
    const names = [...this.#settings.keys()].filter((one) => !PRESET.some((preset) => preset.name === one));
    const named = names.find((one) => path === one || path.startsWith(`${one}[`));
    // A problem of two settings together names one of them, and it may be one that is not in the file: then the other is beside it.
    const section = path.slice(0, path.lastIndexOf('.') + 1);
    const dropped = named ?? names.findLast((one) => one.startsWith(section)) ?? names.at(-1);
    if (dropped === undefined) return false;
    this.#settings.delete(dropped);
    const credentials = dropped === `${section}host` ? ['username', 'passwordFile'].map((one) => section + one) : [];
    const too = credentials.filter((one) => this.#settings.delete(one)).length > 0 ? ' (its credentials, too)' : '';
    const why = (dropped === named ? message : `${path} ${message}`) + too;
    this.#changed.push(`${dropped} is left out, and its default stands: ${why}`);
    return true;
  }

  /** Leaves out one client, so that the others stay. */
  #dropClient(index: number, why: string): boolean {
    const setting = this.#settings.get(CLIENTS);
    const dropped = Array.isArray(setting?.value) ? (setting.value[index] as { readonly name: string }) : undefined;
    if (!setting || !Array.isArray(setting.value) || !dropped) return false;
    const value = setting.value.toSpliced(index, 1);
    if (value.length === 0) this.#settings.delete(CLIENTS);
    else this.#settings.set(CLIENTS, { ...setting, value });
    this.#changed.push(`client ${JSON.stringify(dropped.name)} is left out: ${why}`);
    return true;
  }

  #firstProblem(): Problem | undefined {
    const files = new Map([
      [CHECKED, this.#print()],
      ...this.#files.map(({ path, content }) => [path, content] as const),
    ]);
    try {
      loadConfig(CHECKED, (path) => files.get(path) ?? this.#parts.readFile(path));
      return undefined;
    } catch (error) {
      if (error instanceof ConfigError) return error.problems[0];
      throw error;
    }
  }

  #isReadable(path: string): boolean {
    try {
      this.#parts.readFile(path);
      return isAbsolute(path);
    } catch {
      return false;
    }
  }

  #print = (): string => printConfig([...this.#settings.values()], { changed: this.#changed, leftOut: this.#leftOut });

  #printValues(): string {
    const notes = { changed: this.#changed, leftOut: this.#leftOut };
    return printConfig(toChartValues([...this.#settings.values()]), { ...notes, head: CHART_HEAD });
  }

  finish(): ImportedConfig {
    const used = JSON.stringify([...this.#settings.values()]);
    const text = this.#parts.forChart ? this.#printValues() : this.#print();
    return { text, files: this.#files.filter(({ path }) => used.includes(JSON.stringify(path))) };
  }
}

const CHART_HEAD = [
  ' Values of the Helm chart, made from a configuration of KubeSphere by "gatehouse import-config --chart".',
  ' They have no secret. What each comment says is about the old file.',
  ' To do besides: docs/migrating-from-kubesphere.md.',
];

/** They are taken together. */
const CREDENTIALS: ReadonlySet<string> = new Set(
  STORES.flatMap((section) => ['username', 'password', 'basicauth'].map((name) => `${section}.${name}`)),
);

/** Why a setting has no counterpart, in the words of the check, without its advice to remove it. */
function reason(name: string): string {
  const words = whyRefused(name)
    .replace(/; remove it$/, '')
    .replace(/, and remove it$/, '');
  return words === 'is not a known setting' ? 'is known neither here nor to KubeSphere 3.4' : words;
}
