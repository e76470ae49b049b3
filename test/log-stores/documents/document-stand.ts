import type { NewObject } from '../../../dev/cluster/kube-object.ts';
import { OBSERVED_CONFIG } from '../../support/observed/people.ts';
import { READER_PEOPLE, type ReaderRules, readersCluster, readersNamespaces, WORKSPACES } from '../log-readers.ts';
import { type RealStore, startStore } from '../real-store.ts';
import { addressOf, type LogQueryStand, startLogQueries } from '../store-stand.ts';
import type { StoreName } from '../store-tools.ts';
import { auditDocuments } from './audit-documents.ts';
import type { ExistingNamespace } from './document-oracle.ts';
import type { DocumentWords } from './document-words.ts';
import { eventDocuments } from './event-documents.ts';

const { platform } = OBSERVED_CONFIG;
const TENANT = `tenant.${platform}.io`;

/** Readers may search events, and list events and audit events in their namespaces. */
const BOTH: ReaderRules = {
  asks: { apiGroups: [TENANT], resources: ['events'], verbs: ['list'] },
  reads: { apiGroups: ['', TENANT], resources: ['events', 'auditevents'], verbs: ['list'] },
};

export interface DocumentAnswer {
  readonly status: number;
  /** What the JSON says. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it
  readonly body: any;
}

type Parameters = Readonly<Record<string, string>>;

/** Gatehouse with searches of events and audit records. */
interface DocumentSearches {
  ask(words: Pick<DocumentWords, 'path'>, who: string, parameters: Parameters): Promise<DocumentAnswer>;
  stop(): Promise<void>;
}

export interface DocumentStand extends DocumentSearches {
  readonly store: RealStore;
  /** Another Gatehouse in front of the same store. */
  another(more: {
    readonly events?: object;
    readonly auditing?: object;
    readonly rules?: ReaderRules;
    /** More of the cluster. */
    readonly objects?: readonly NewObject[];
  }): Promise<DocumentSearches>;
}

/** A store with the documents of both kinds, and Gatehouse in front of it. */
export async function startDocumentStand(name: StoreName): Promise<DocumentStand> {
  const store = await startStore(name);
  await store.add([...eventDocuments(), ...auditDocuments()]);
  const address = addressOf(store, name);
  const another: DocumentStand['another'] = async ({ events, auditing, rules = BOTH, objects = [] }) => {
    const settings = { events: { ...address, ...events }, auditing: { ...address, ...auditing } };
    const cluster = [...readersCluster(platform, rules), ...objects];
    return searchesOf(await startLogQueries({ settings, objects: cluster, people: READER_PEOPLE }));
  };
  const searches = await another({});
  const stop = async (): Promise<void> => {
    await searches.stop();
    await store.stop();
  };
  return { ...searches, store, another, stop };
}

const searchesOf = ({ get, stop }: LogQueryStand): DocumentSearches => ({
  async ask({ path }, who, parameters) {
    const { status, text } = await get(who, `/kapis/${TENANT}/v1alpha2/${path}?${new URLSearchParams(parameters)}`);
    return { status, body: JSON.parse(text) };
  },
  stop,
});

/** The namespaces of the cluster. */
export const existingNamespaces = (): Record<string, ExistingNamespace> =>
  Object.fromEntries(
    Object.entries(readersNamespaces()).map(([name, createdAt]) => {
      const workspace = WORKSPACES[name];
      return [name, { createdAt, ...(workspace && { workspace }) }];
    }),
  );
