import { Agent, request } from 'undici';
import { passwordOf, startCluster, startService } from '../integration/service/stand.ts';
import { atEnd } from '../support/at-end.ts';
import { freePorts } from '../support/control-plane/free-ports.ts';
import { FormBrowser, type Page } from '../support/form-browser.ts';
import { hashOf } from '../support/passwords.ts';
import { selfSigned } from '../support/self-signed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Gatehouse over https, for a web application that signs people in. Ada is in the groups `admins` and `team-a`, Joe in `team-b`. */
export interface WebStand {
  readonly issuer: string;
  /** A file in PEM with the certificate to trust. */
  readonly caFile: string;
  /** A browser that nobody has used yet. */
  browser(): FormBrowser;
  /** A GET with this bearer token. */
  call(path: string, token: string): Promise<{ readonly status: number; readonly body: unknown }>;
}

type Person = 'ada' | 'joe';

const PEOPLE = [
  { name: 'ada', email: 'ada@example.com', emailVerified: true, groups: ['admins', 'team-a'] },
  { name: 'joe', email: 'joe@example.com', groups: ['team-b'] },
] as const;

/** Starts it with these clients. It ends after the test. */
export async function startWebStand(clients: readonly object[]): Promise<WebStand> {
  const { write } = temporaryFolder();
  const [port = 0] = await freePorts(1);
  const { cert, key } = selfSigned('localhost');
  const caFile = write('ca.pem', cert);
  const issuer = `https://localhost:${port}/oauth`;
  await startService(await startCluster(), {
    users: await usersFile(),
    config: {
      server: { port, tls: { certFile: caFile, keyFile: write('key.pem', key) } },
      // A token ends when it says, for clients have the clock of this machine.
      authentication: { maximumClockSkew: '0s', oauthOptions: { issuer, clients } },
    },
  });
  const dispatcher = new Agent({ connect: { ca: cert } });
  atEnd(() => dispatcher.destroy());
  return {
    issuer,
    caFile,
    browser: () => new FormBrowser({ ca: cert }),
    call: async (path, token) => {
      const answer = await request(new URL(path, issuer), {
        dispatcher,
        headers: { Authorization: `Bearer ${token}` },
      });
      return { status: answer.statusCode, body: await answer.body.json() };
    },
  };
}

async function usersFile(): Promise<string> {
  const users = PEOPLE.map(async (person) => ({ ...person, passwordHash: await hashOf(passwordOf(person.name)) }));
  return JSON.stringify({ users: await Promise.all(users) });
}

/** Opens the address of an application and signs in on the page that it leads to. Answers where the browser ends. */
export async function signInAt(browser: FormBrowser, address: string, person: Person): Promise<Page> {
  const page = await browser.open(address);
  return browser.submit(page, { username: person, password: passwordOf(person) });
}
