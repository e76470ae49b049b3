import { isMap, LineCounter, parseAllDocuments } from 'yaml';

/** The name of the file in the ConfigMap `kubesphere-config`. */
const FILE = 'kubesphere.yaml';

/** A file of KubeSphere 3.1 to 4.0: its settings by their names, or in one sentence why there are none. The sentence quotes nothing of the file. */
export type OldConfig = { readonly settings: Settings } | { readonly fault: string };

export type Settings = Readonly<Record<string, unknown>>;

/** The kinds of objects of Kubernetes that the settings are often near. */
const INSTALLER_KINDS: ReadonlySet<unknown> = new Set(['ClusterConfiguration', 'KSConfig']);

/**
 * Finds the settings in a text: the file itself, or the ConfigMap that holds it, alone, in a `List`, or among other documents. Anchors, and maps
 * merged by `<<`, are resolved, as 3.4 does.
 */
export function readOldConfig(text: string): OldConfig {
  const documents = parseDocuments(text);
  if ('fault' in documents) return documents;
  const found = documents.contents.flatMap(settingsIn);
  const [first, second] = found;
  if (first === undefined) return { fault: whyNone(documents.contents) };
  if (second !== undefined)
    return { fault: `the text has ${found.length} configurations of KubeSphere: give one of them` };
  if (typeof first !== 'string') return { settings: first };
  const inner = parseDocuments(first);
  if ('fault' in inner) return { fault: `${FILE} in the ConfigMap: ${inner.fault}` };
  const [content, another] = inner.contents;
  if (another !== undefined) return { fault: `${FILE} in the ConfigMap has more than one YAML document` };
  return isSettings(content) ? { settings: content } : { fault: `${FILE} in the ConfigMap has no settings` };
}

/** The settings of a document, or the text of a ConfigMap that has them. */
function settingsIn(content: unknown): (Settings | string)[] {
  if (!isSettings(content)) return [];
  if (content['kind'] === undefined) return [content];
  if (Array.isArray(content['items'])) return content['items'].flatMap(settingsIn);
  const data = content['data'];
  const file = content['kind'] === 'ConfigMap' && isSettings(data) ? data[FILE] : undefined;
  return typeof file === 'string' ? [file] : [];
}

function whyNone(contents: readonly unknown[]): string {
  if (contents.length === 0) return 'the text is empty';
  const isOfInstaller = contents.some((content) => isSettings(content) && INSTALLER_KINDS.has(content['kind']));
  const where = `give the ConfigMap kubesphere-config, or its ${FILE}`;
  return isOfInstaller
    ? `this is the installer's configuration, from which it makes the API server's: ${where}`
    : `the text has no settings of KubeSphere: ${where}`;
}

export const isSettings = (value: unknown): value is Settings =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Without warnings to standard error: they quote the text. */
const QUIET = { merge: true, prettyErrors: false, logLevel: 'error' } as const;

/** Reads all documents that are not empty. The message of a fault never quotes the text, which has secrets. */
function parseDocuments(text: string): { readonly contents: readonly unknown[] } | { readonly fault: string } {
  const lines = new LineCounter();
  try {
    const documents = parseAllDocuments(text, { ...QUIET, lineCounter: lines });
    if (!Array.isArray(documents)) return { contents: [] };
    for (const { errors, contents } of documents) {
      const [error] = errors;
      if (error) return { fault: `not YAML at line ${lines.linePos(error.pos[0]).line}${hint(error.code)}` };
      if (contents !== null && !isMap(contents) && !isNothing(contents.toJSON()))
        return { fault: 'the text is not a map of settings' };
    }
    return { contents: documents.map((one) => one.toJS({ maxAliasCount: 100 }) as unknown).filter(isSettings) };
  } catch {
    return { fault: 'not YAML: it nests too deep, has an alias without its anchor, or too many aliases' };
  }
}

const isNothing = (value: unknown): boolean => value === null || value === '';

const hint = (code: string): string =>
  code === 'TAB_AS_INDENT' ? ': it is indented by a tab, which YAML does not allow; write blanks' : '';
