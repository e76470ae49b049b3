import { createPrivateKey } from 'node:crypto';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { selfSigned } from '../self-signed.ts';
import type { Situation } from './situations.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** The exec plug-in. It returns the input that it got as a token, or the answer that its argument names. */
const PLUGIN = `#!/bin/sh
version="client.authentication.k8s.io/\${2:-v1}"
case "$1" in
  told) printf '{"apiVersion":"%s","kind":"ExecCredential","status":{"token":"%s.%s"}}' "$version" "$(printf %s "$KUBERNETES_EXEC_INFO" | base64 -w0)" "$A" ;;
  fail) exit 3 ;;
  *) sed "s|@version@|$version|" "\${0%/*}/answer-$1" ;;
esac
`;

/** The files to which the situations refer, in one folder, and the texts that replace `@name@` in the situations. */
export class Fixtures {
  readonly #folder: string;
  readonly #values: Readonly<Record<string, string>>;
  #count = 0;

  constructor(folder: string) {
    this.#folder = folder;
    const [authority, client, other] = [selfSigned('authority'), selfSigned('client'), selfSigned('other')];
    const bundle = `# authorities\n${authority.cert}between\n${other.cert}${other.key}`;
    const broken = authority.cert.replace(/\n.{8}/, '\nAAAAAAAA');
    const key = createPrivateKey(client.key);
    const sec1 = key.export({ type: 'sec1', format: 'pem' }) as string;
    const encrypted = key.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' }) as string;
    const files = {
      'ca.crt': authority.cert,
      'bundle.crt': bundle,
      'client.crt': client.cert,
      'client.key': client.key,
      'other.key': other.key,
      junk: 'hello',
      empty: '',
      blank: ' \n',
      control: 'a\u0001b',
      token: 'from-file\n',
      plugin: PLUGIN,
      ...answers(client, other.key),
    };
    mkdirSync(join(folder, 'sub'));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    chmodSync(join(folder, 'plugin'), 0o700);
    this.#values = {
      dir: folder,
      ca64: base64(authority.cert),
      ca64url: base64(authority.cert).replaceAll('A', '-'),
      lines64: JSON.stringify((base64(authority.cert).match(/.{1,76}/g) ?? []).join('\r\n')),
      bundle64: base64(bundle),
      broken64: base64(broken),
      hello64: base64('hello'),
      cert64: base64(client.cert),
      chain64: base64(`text\n${client.cert}${authority.cert}`),
      key64: base64(client.key),
      other64: base64(other.key),
      sec164: base64(`-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n${sec1}`),
      encrypted64: base64(encrypted),
    };
  }

  /** The environment of both readers. */
  get environment(): Readonly<Record<string, string>> {
    return { PATH: `${this.#folder}:/usr/bin:/bin`, A: 'ours' };
  }

  /** Writes the files of a situation into a folder of their own, and returns their paths. They refer to `../…`. */
  write({ files }: Situation): readonly string[] {
    const folder = join(this.#folder, `situation-${this.#count++}`);
    mkdirSync(folder);
    return files.map((text, at) => {
      const path = join(folder, `config-${at}`);
      if (text !== undefined)
        writeFileSync(
          path,
          text.replace(/@(\w+)@/g, (whole, name) => this.#values[name] ?? whole),
        );
      return path;
    });
  }
}

/** The answers of the plug-in, by its argument. */
function answers({ cert, key }: { readonly cert: string; readonly key: string }, otherKey: string) {
  const pair = { clientCertificateData: cert, clientKeyData: key };
  const status = {
    cert: pair,
    both: { ...pair, token: 'with-certificate' },
    broken: { ...pair, clientKeyData: otherKey },
    half: { clientCertificateData: cert },
    empty: {},
    expired: { token: 'old', expirationTimestamp: '2020-01-01T00:00:00Z' },
    later: { token: 'new', expirationTimestamp: '2099-01-01T00:00:00.123+02:00' },
    badtime: { token: 'new', expirationTimestamp: 'tomorrow' },
    twolines: { token: 'a\nb' },
    number: { token: 7 },
    more: { token: 'more', unknown: 1 },
    nulls: { token: 'nulls', expirationTimestamp: null, clientKeyData: null },
  };
  const credential = (members: object): string =>
    JSON.stringify({ apiVersion: '@version@', kind: 'ExecCredential', ...members });
  const texts = {
    ...Object.fromEntries(Object.entries(status).map(([name, one]) => [name, credential({ status: one })])),
    nostatus: credential({ spec: {} }),
    kind: credential({ kind: 'Secret', status: { token: 'a' } }),
    yaml: 'apiVersion: @version@\nkind: ExecCredential\nstatus: {token: yaml}\n',
    list: '[]',
    bare: 'token',
  };
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [`answer-${name}`, text]));
}
