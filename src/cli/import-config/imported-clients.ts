import { join } from 'node:path';
import { durationText, oldDurationMs } from './go-duration.ts';
import { isSettings, type Settings } from './old-config.ts';
import { exactText, saysSomething, withLowerNames } from './old-values.ts';

/** A file that holds one secret. */
export interface SecretFile {
  readonly path: string;
  readonly content: string;
}

/** What became of the clients of the old file. */
export interface ImportedClients {
  /** In the form of `authentication.oauthOptions.clients`; `undefined`: the default stands. */
  readonly clients?: readonly object[];
  readonly files: readonly SecretFile[];
  /** What was changed or left out, one sentence each. */
  readonly notes: readonly string[];
}

const GRANT_METHODS: ReadonlySet<unknown> = new Set(['auto', 'prompt', 'deny']);

/** Takes over the OAuth clients. Their secrets go into files of this folder; without one, clients with a secret are left out. */
export function importClients(value: unknown, folder: string | undefined): ImportedClients {
  if (!Array.isArray(value)) return { files: [], notes: saysSomething(value) ? [NO_LIST_NOTE] : [] };
  const given = value.filter(isSettings).map(withLowerNames);
  if (given.every(isDefault)) return { files: [], notes: given.length > 0 ? [DEFAULT_NOTE] : [] };
  const files: SecretFile[] = [];
  const notes: string[] = [];
  const clients = given.flatMap((client, index) => {
    const name = exactText(client['name']);
    if (name === undefined) return note(notes, `client ${index + 1} has no name and is left out`);
    if (!saysSomething(client['secret']))
      return note(notes, `client ${quoted(name)} has no secret, so that nobody could use it at 3.4, and is left out`);
    const secret = exactText(client['secret']);
    if (secret === undefined)
      return note(notes, `client ${quoted(name)} is left out: its secret is no text; write it in quotes`);
    if (folder === undefined)
      return note(
        notes,
        `client ${quoted(name)} is left out: its secret belongs into a file; run this again with --secrets DIR`,
      );
    const path = join(folder, `client-${index + 1}`);
    files.push({ path, content: secret });
    return [{ name, secretFile: path, ...further(client, quoted(name), notes) }];
  });
  return clients.length > 0 ? { clients, files, notes } : { files: [], notes };
}

const DEFAULT_NOTE =
  'authentication.oauthOptions.clients has only the client "kubesphere", which this platform has without a setting; remember that everybody knows its secret';

const NO_LIST_NOTE = 'authentication.oauthOptions.clients is left out: it is no list';

/** The client that 3.4 has without a setting, and that its installer writes down. */
const isDefault = ({ name, secret }: Settings): boolean => name === 'kubesphere' && secret === 'kubesphere';

const note = (notes: string[], text: string): never[] => {
  notes.push(text);
  return [];
};

/** The other settings of a client. */
function further(client: Settings, name: string, notes: string[]): object {
  const uris = Array.isArray(client['redirecturis'])
    ? client['redirecturis'].filter((uri) => typeof uri === 'string')
    : [];
  const redirectURIs = uris.filter((uri) => uri !== '*');
  if (redirectURIs.length < uris.length)
    notes.push(`client ${name}: the redirect URI "*" is left out, because it would send codes to anybody who asks`);
  const method = client['grantmethod'];
  const ages = ['accessTokenMaxAge', 'accessTokenInactivityTimeout'].flatMap((setting) => {
    const ms = oldDurationMs(client[setting.toLowerCase()]);
    return ms === undefined || (ms === 0 && setting === 'accessTokenMaxAge') ? [] : [[setting, durationText(ms)]];
  });
  if (oldDurationMs(client['accesstokenmaxage']) === 0)
    notes.push(`client ${name}: accessTokenMaxAge 0 would let tokens live for ever, and is left out`);
  return {
    ...(redirectURIs.length > 0 ? { redirectURIs } : {}),
    ...(GRANT_METHODS.has(method) ? { grantMethod: method } : {}),
    ...Object.fromEntries(ages),
  };
}

const quoted = (name: string): string => JSON.stringify(name);
