import { generateKeyPairSync } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { forgeToken } from '../support/forged-token.ts';
import { waitFor } from '../support/waiting.ts';
import { type Client, ClientProgram, type Line, type Step } from './client-program.ts';
import type { Stand, Told } from './stand.ts';

export const FIRST_NODES = ['node-a', 'node-b', 'node-c'];
/** The node that is made after the first restart. */
export const LATER = 'made-after-a-restart';
/** The node that is made while nobody listens, at the second restart. */
const MEANWHILE = 'made-while-down';
export const ALL_NODES = [...FIRST_NODES, LATER, MEANWHILE];

/** What a client did: facts for a test to judge. A step that could not be done rejects. */
export interface Story {
  readonly signIn: Promise<Line>;
  readonly verify: Promise<Verified>;
  readonly list: Promise<Line>;
  readonly watch: Promise<readonly Line[]>;
  readonly refresh: Promise<Refreshed>;
}

/** What it says of these tokens. */
interface Verified {
  readonly own: Line;
  /** Its own one with another subject, and the signature that it had. */
  readonly changed: Line;
  /** Another one with the same claims, signed by a key that is not published, under the id of one that is. */
  readonly foreign: Line;
}

interface Refreshed {
  readonly before: Line;
  /** What Gatehouse answers to the token of `before` when it has ended, before the client does anything. */
  readonly statusOfEnded: number | undefined;
  readonly after: Line;
}

/**
 * Every client at once, each in programs of its own: it signs in, verifies, lists, and watches over two restarts. Another program of it signs in
 * for a minute, and goes on when that is over.
 */
export async function tellStories(stand: Stand, clients: readonly Client[]): Promise<readonly Story[]> {
  const restarts = { first: Promise.withResolvers<void>(), second: Promise.withResolvers<void>() };
  const begun: Begun[] = [];
  for (const client of clients) {
    const [told, hastily] = [await stand.told({ isHasty: false }), await stand.told({ isHasty: true })];
    const one = begin(client, { stand, told, hastily, restarts });
    begun.push(one);
    // Programs that all start at once would only be in each other's way.
    await one.signedIn;
  }
  // A restart comes when every client that watches has the first state, and each sign-in for a minute is over.
  await Promise.allSettled(begun.flatMap(({ before }) => before));
  await stand.restart();
  stand.makeNode(LATER);
  restarts.first.resolve();
  await Promise.allSettled(begun.map(({ later }) => later));
  await stand.restart(() => stand.makeNode(MEANWHILE));
  restarts.second.resolve();
  const stories = begun.map(({ story }) => story);
  await Promise.allSettled(stories.flatMap((story) => Object.values(story)));
  return stories;
}

interface Parts {
  readonly stand: Stand;
  readonly told: Told;
  readonly hastily: Told;
  readonly restarts: { readonly first: PromiseWithResolvers<void>; readonly second: PromiseWithResolvers<void> };
}

interface Begun {
  readonly story: Story;
  /** Settles when both of its programs have signed in, or cannot. */
  readonly signedIn: Promise<unknown>;
  /** What has to be over before the first restart. */
  readonly before: readonly Promise<unknown>[];
  /** What has to be over before the second one. */
  readonly later: Promise<unknown>;
}

function begin(client: Client, { stand, told, hastily, restarts }: Parts): Begun {
  const can = (step: Step): boolean => client.steps.includes(step);
  const program = new ClientProgram(client, told);
  const signIn = can('sign-in') ? program.ask('sign-in') : cannot<Line>('sign-in');
  const signedIn = signIn.catch(() => undefined);
  const token = signedIn.then((line) => line?.token ?? told.token);
  const verify = can('verify') ? token.then((own) => verifyWith(program, own)) : cannot<Verified>('verify');
  const verified = verify.catch(() => undefined);
  const list = can('list') ? verified.then(() => program.ask('list')) : cannot<Line>('list');
  const listed = list.catch(() => undefined);
  const watching = can('watch') ? listed.then(() => watchWith(program)) : cannot<void>('watch');
  const later = Promise.all([watching, restarts.first.promise]).then(() => saw(program, LATER));
  const seen = Promise.all([later, restarts.second.promise]).then(() => sawAll(program));
  const watch = can('watch') ? seen.then(() => end(program)) : cannot<readonly Line[]>('watch');
  const hasty = can('refresh') ? signInHastily(client, hastily) : cannot<Hasty>('refresh');
  const refresh = Promise.all([hasty, restarts.second.promise]).then(([begun]) => refreshAfterwards(begun, stand));
  const story = { signIn, verify, list, watch, refresh };
  // Whoever reads the story learns of a failure, and whatever waits for it goes on without.
  for (const promise of [...Object.values(story), watching, later, seen, hasty]) promise.catch(() => {});
  return { story, signedIn: Promise.allSettled([signIn, hasty]), before: [watching, listed, hasty], later };
}

const cannot = <T>(step: Step): Promise<T> => Promise.reject(new Error(`the client has no step ${step}`));

async function verifyWith(program: ClientProgram, own: string): Promise<Verified> {
  const [header = '', claims = '', signature = ''] = own.split('.');
  const decoded = JSON.parse(Buffer.from(claims, 'base64url').toString()) as object;
  const other = Buffer.from(JSON.stringify({ ...decoded, sub: 'eve' })).toString('base64url');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const foreign = forgeToken(privateKey, Buffer.from(header, 'base64url').toString(), decoded);
  return {
    own: await program.ask('verify', { token: own }),
    changed: await program.ask('verify', { token: [header, other, signature].join('.') }),
    foreign: await program.ask('verify', { token: foreign }),
  };
}

async function watchWith(program: ClientProgram): Promise<void> {
  program.watch();
  for (const name of FIRST_NODES) await saw(program, name);
}

const saw = (program: ClientProgram, name: string): Promise<unknown> =>
  program.until(
    () => program.watched,
    (lines) => lines.some(({ type, node }) => type === 'ADDED' && node === name),
  );

/** All that there is, after the last RESET: what is sent again may begin with the node that is new. */
const sawAll = (program: ClientProgram): Promise<unknown> =>
  program.until(
    () => program.watched,
    (lines) => {
      const last = lines.slice(lines.findLastIndex(({ type }) => type === 'RESET') + 1);
      return ALL_NODES.every((name) => last.some(({ type, node }) => type === 'ADDED' && node === name));
    },
  );

async function end(program: ClientProgram): Promise<readonly Line[]> {
  const code = await program.end();
  if (code !== 0) throw new Error(`the program ended with ${code}`);
  return program.watched;
}

interface Hasty {
  readonly program: ClientProgram;
  readonly before: Line;
  /** When the client has to think that its token has ended. */
  readonly endsAt: number;
}

/** Some clients count from the answer, and some round. */
const ENDED_MS = 62_000;

async function signInHastily(client: Client, told: Told): Promise<Hasty> {
  const program = new ClientProgram(client, told);
  const before = await program.ask('sign-in');
  return { program, before, endsAt: Date.now() + ENDED_MS };
}

async function refreshAfterwards({ program, before, endsAt }: Hasty, stand: Stand): Promise<Refreshed> {
  await waitFor(Date.now, (now) => now >= endsAt, { turn: () => sleep(100) });
  const statusOfEnded = before.token === undefined ? undefined : await stand.statusWith(before.token);
  const after = await program.ask('refresh');
  await end(program);
  return { before, statusOfEnded, after };
}
