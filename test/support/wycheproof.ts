import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { JWK } from 'jose';
import { downloaded } from './downloads.ts';

/** One token of a file of test vectors, with the keys that verify it. */
export interface Vector {
  readonly id: number;
  readonly comment: string;
  readonly isValid: boolean;
  /** The text that would be sent; for the JSON forms it is JSON. */
  readonly text: string;
  readonly keys: readonly JWK[];
}

interface VectorFile {
  readonly numberOfTests: number;
  readonly testGroups: readonly {
    /** A key or a set of keys. Only symmetric keys have no public form. */
    readonly private: JWK | { readonly keys: readonly JWK[] };
    readonly public?: JWK | { readonly keys: readonly JWK[] };
    readonly tests: readonly {
      readonly tcId: number;
      readonly comment: string;
      readonly result: 'valid' | 'invalid';
      readonly jws?: unknown;
      readonly jwe?: unknown;
    }[];
  }[];
}

const MODULE = 'github.com/c2sp/wycheproof';
const PINNED_IN = join(import.meta.dirname, '..', 'cluster', 'tools', 'wycheproof');

/**
 * The folder of the vectors in Go's module cache. Downloads them if they are missing, with the version of go.mod and the digest of
 * go.sum. Nothing is copied into this repository, because the vectors contain private keys.
 */
export async function wycheproofFolder(): Promise<string> {
  const options = { cwd: PINNED_IN, env: { ...process.env, GOFLAGS: '-mod=readonly' } };
  const download = () => promisify(execFile)('go', ['mod', 'download', '-json', MODULE], options);
  const { stdout } = await downloaded(MODULE, download).catch((cause) => {
    throw new Error(`cannot download ${MODULE}: it takes Go 1.26 or newer on PATH, and a module proxy`, { cause });
  });
  return (JSON.parse(stdout) as { readonly Dir: string }).Dir;
}

/** All vectors of one file, such as `json_web_signature_test`. Throws if the file has not as many as it says. */
export async function readVectors(folder: string, name: string): Promise<readonly Vector[]> {
  const file = JSON.parse(await readFile(join(folder, 'testvectors_v1', `${name}.json`), 'utf8')) as VectorFile;
  const vectors = file.testGroups.flatMap((group) => {
    const key = group.public ?? group.private;
    const keys = 'keys' in key ? (key as { readonly keys: readonly JWK[] }).keys : [key as JWK];
    return group.tests.map(({ tcId, comment, result, jws, jwe }) => {
      const token = jws ?? jwe;
      const text = typeof token === 'string' ? token : JSON.stringify(token);
      return { id: tcId, comment, isValid: result === 'valid', text, keys };
    });
  });
  if (vectors.length !== file.numberOfTests) throw new Error(`${name}: ${vectors.length} of ${file.numberOfTests}`);
  return vectors;
}
