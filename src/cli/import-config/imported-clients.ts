import { join } from 'node:path';
import { durationText, oldDurationMs } from './go-duration.ts';
import { isSettings, type Settings } from './old-config.ts';

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
  const given = Array.isArray(value) ? value.filter(isSettings).map(withLowerNames) : [];
  if (given.every(isDefault)) return { files: [], notes: given.length > 0 ? [DEFAULT_NOTE] : [] };
  const files: SecretFile[] = [];
  const notes: string[] = [];
  const clients = given.flatMap((client, index) => {
    const name = typeof client['name'] === 'string' && client['name'] !== '' ? client['name'] : undefined;
    if (name === undefined) return note(notes, `client ${index + 1} has no name and is left out`);
    const secret = client['secret'];
    if (typeof secret !== 'string' || secret === '')
      return note(notes, `client ${quoted(name)} has no secret, so that nobody could use it at 3.4, and is left out`);
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

const withLowerNames = (client: Settings): Settings =>
  Object.fromEntries(Object.entries(client).map(([key, value]) => [key.toLowerCase(), value]));

const quoted = (name: string): string => JSON.stringify(name);
