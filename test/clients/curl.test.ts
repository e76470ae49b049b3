import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { passwordOf, startCluster, startService } from '../integration/service/stand.ts';
import { needs } from '../support/needs.ts';

const PAGE = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'tokens.md'), 'utf8');

/** What the page says about an id and a secret with other characters. */
const OPTION = /^-u "\$\(jq .*$/m.exec(PAGE)?.[0] ?? 'docs/tokens.md has no such line';

const SECRET = 'a+b %41/ü:&="';

/** What curl prints when it signs Ada in by a confidential client with that secret. */
async function signIn(option: string): Promise<string> {
  const clients = [{ name: 'console', secret: SECRET }];
  const config = { authentication: { oauthOptions: { clients } } };
  const { gatehouse } = await startService(await startCluster(), { config });
  const line = `curl -s ${option} -d grant_type=password -d username=ada -d "password=$PASSWORD" "$URL/oauth/token"`;
  const env = { ...process.env, ID: 'console', SECRET, PASSWORD: passwordOf('ada'), URL: gatehouse.origin };
  return (await promisify(execFile)('sh', ['-c', line], { env })).stdout;
}

test('the option of docs/tokens.md for curl authenticates a client with an odd secret', async (context) => {
  needs(context, 'curl and jq');
  expect(await signIn(OPTION)).toContain('"expires_in":7200');
});

test('what curl makes of such a secret by itself is another secret', async (context) => {
  needs(context, 'curl and jq');
  expect(await signIn('-u "$ID:$SECRET"')).toContain('"error":"invalid_client"');
});
