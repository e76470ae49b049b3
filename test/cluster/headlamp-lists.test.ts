import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { applyEvents } from '../support/watcher.ts';
import { eventually } from './eventually.ts';
import { type Gatehouse, startGatehouse } from './gatehouse.ts';
import {
  askWebsocket,
  getHeaders,
  LISTS,
  PAGE_ORIGIN,
  WATCHES,
  type WatchForm,
  WatchSocket,
  watchOf,
} from './headlamp-requests.ts';
import { nameOf, namesTo, PermittedStand } from './permitted-stand.ts';

const NAMESPACES = 1_000;
/** More than 64 of them are listed by our own account, fewer as the caller. */
const MANY = namesTo(300);
const TWO = [nameOf(5), nameOf(700)] as const;
const SPARE = nameOf(999);
const USERS = ['two', 'many', 'none', 'changing', 'leaving', 'whole'] as const;
type User = (typeof USERS)[number];
const FORMS = Object.keys(WATCHES) as WatchForm[];

interface List {
  readonly kind: string;
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly { readonly metadata: { readonly name: string; readonly namespace?: string } }[];
}

let cluster: ControlPlane;
let stand: PermittedStand;
let gatehouse: Gatehouse;
const tokens = new Map<User, string>();
const tokenOf = (user: User): string => tokens.get(user) as string;

beforeAll(async () => {
  cluster = await startControlPlane();
  const users = Object.fromEntries(USERS.map((name) => [name, []]));
  const config = { gateway: { enabled: true, permittedLists: true }, cors: { origins: [PAGE_ORIGIN] } };
  gatehouse = await startGatehouse(cluster, users, { config });
  stand = await PermittedStand.open(cluster, namesTo(NAMESPACES), USERS);
  await cluster.kubectl(['create', 'clusterrolebinding', 'whole', '--clusterrole=reader', '--user=whole']);
  for (const user of USERS) tokens.set(user, await gatehouse.signIn(user));
  await grant('many', MANY);
  for (const user of ['two', 'changing', 'leaving'] as const) await grant(user, TWO);
}, 120_000);

afterAll(async () => {
  await stand?.close();
  await gatehouse?.stop();
  await cluster?.stop();
});

/** Grants, and waits until the lists show it: RBAC sees new bindings a moment later. */
async function grant(user: User, names: readonly string[]): Promise<void> {
  await stand.grant(user, names);
  await eventually(
    async () => (await get(user, LISTS.pods)).list.items?.map(({ metadata }) => metadata.namespace) ?? [],
    (shown) => names.every((name) => shown.includes(name)),
  );
}

async function get(user: User, path: string): Promise<{ status: number; list: List; message?: string }> {
  const answer = await fetch(gatehouse.url + path, { headers: getHeaders(tokenOf(user)) });
  const list = (await answer.json()) as List & { readonly message?: string };
  return { status: answer.status, list, ...(list.message !== undefined && { message: list.message }) };
}

const pathsOf = ({ items }: List): string[] =>
  items.map(({ metadata: { namespace, name } }) => `${namespace}/${name}`).toSorted();

/** The version of the list that a page has shown. */
const versionOf = async (user: User, path: string): Promise<string> =>
  (await get(user, path)).list.metadata.resourceVersion;

/** The answer to a websocket that is not to open. */
async function refusal(user: User, path: string, headers: Readonly<Record<string, string>>) {
  const { status, text } = await askWebsocket(gatehouse.url + path, {
    ...headers,
    authorization: `Bearer ${tokenOf(user)}`,
  });
  return { status, message: status === 101 ? '' : (JSON.parse(text) as { message: string }).message };
}

describe.each([
  { user: 'two', names: TWO },
  { user: 'many', names: MANY },
] as const)('Headlamp of a user with $names.length of 1,000 namespaces', ({ user, names }) => {
  test('KD-31 lists the pods of these on its page of all namespaces', async () => {
    const { status, list } = await get(user, LISTS.pods);
    expect([status, list.kind]).toEqual([200, 'PodList']);
    expect(pathsOf(list)).toEqual(names.map((name) => `${name}/pod`));
    expect(list.metadata).toEqual({ resourceVersion: expect.stringMatching(/^\d+$/) }); // it watches only a list without `continue`
  });

  test('KD-32 lists them in pages, each from the version of the first', async () => {
    const path = LISTS.pods.replace('limit=1000', 'limit=1');
    const shown: string[] = [];
    const versions = new Set<string>();
    for (let next: string | undefined = path; next !== undefined; ) {
      const { list } = await get(user, next);
      shown.push(...pathsOf(list));
      versions.add(list.metadata.resourceVersion);
      next = list.metadata.continue && LISTS.more(path, list.metadata.continue);
    }
    expect([shown, versions.size]).toEqual([names.map((name) => `${name}/pod`), 1]);
  });

  test('KD-33 lists these in its filter of namespaces', async () => {
    const { status, list } = await get(user, LISTS.namespaces);
    expect([status, list.kind]).toEqual([200, 'NamespaceList']);
    expect(list.items.map(({ metadata }) => metadata.name)).toEqual(names);
  });

  test.each(FORMS)(
    'KD-32 is told by the websocket of %s what changes in these after the list, and of no other',
    async (form) => {
      const [name] = names;
      const version = await versionOf(user, LISTS.pods);
      await stand.createPod(SPARE, `of-${user}`);
      await stand.createPod(name, `of-${user}`);
      const socket = await WatchSocket.open(form, gatehouse.url, watchOf('pods', version), tokenOf(user));
      try {
        await stand.deletePod(SPARE, `of-${user}`);
        await stand.deletePod(name, `of-${user}`);
        await eventually(
          async () => socket.story,
          (story) => story.at(-1) === `DELETED ${name}/of-${user}`,
        );
        const own = socket.story.filter((line) => line.endsWith(`/of-${user}`) && !line.startsWith('MODIFIED'));
        expect(own).toEqual([`ADDED ${name}/of-${user}`, `DELETED ${name}/of-${user}`]);
        expect(socket.story.every((line) => names.some((one) => line.includes(` ${one}/`)))).toBe(true);
      } finally {
        socket.close();
      }
    },
  );

  test.each(FORMS)('KD-33 is told by the websocket of %s of changes of these namespaces', async (form) => {
    const [name] = names;
    const path = watchOf('namespaces', await versionOf(user, LISTS.namespaces));
    const socket = await WatchSocket.open(form, gatehouse.url, path, tokenOf(user));
    try {
      for (const one of [SPARE, name])
        await cluster.kubectl(['label', 'namespace', one, `${user}-${form.slice(4)}=seen`]);
      await eventually(
        async () => socket.events,
        (events) => events.length > 0,
      );
      const told = socket.events.map(({ type, object }) => `${type} ${object.metadata.name}`);
      expect(new Set(told)).toEqual(new Set([`MODIFIED ${name}`]));
    } finally {
      socket.close();
    }
  });
});

test('Headlamp of a user without rights gets the 403 of the cluster for lists and watches', async () => {
  for (const resource of ['pods', 'namespaces'] as const) {
    const where = `resource "${resource}" in API group "" at the cluster scope`;
    expect(await get('none', LISTS[resource])).toMatchObject({
      status: 403,
      message: `${resource} is forbidden: User "none" cannot list ${where}`,
    });
    const headers = WATCHES['its pages'](gatehouse.url, tokenOf('none'));
    expect(await refusal('none', watchOf(resource, '1'), headers)).toEqual({
      status: 403,
      message: `${resource} is forbidden: User "none" cannot watch ${where}`,
    });
  }
});

test.each(FORMS)(
  'KD-30 the websocket of %s tells a user with the right over the whole cluster what changes in it after the list',
  async (form) => {
    const version = await versionOf('whole', LISTS.pods);
    await stand.createPod(SPARE, 'made');
    const socket = await WatchSocket.open(form, gatehouse.url, watchOf('pods', version), tokenOf('whole'));
    try {
      await stand.deletePod(SPARE, 'made');
      await eventually(
        async () => socket.story,
        (story) => story.at(-1) === `DELETED ${SPARE}/made`,
      );
      expect(socket.story[0]).toBe(`ADDED ${SPARE}/made`);
    } finally {
      socket.close();
    }
  },
);

test('KD-31 the text of an event is that of the API server, byte for byte', async () => {
  const version = await versionOf('two', LISTS.pods);
  const path = watchOf('pods', version);
  const sockets = await Promise.all(
    (['two', 'whole'] as const).map((user) => WatchSocket.open('its pages', gatehouse.url, path, tokenOf(user))),
  );
  try {
    await stand.createPod(TWO[0], 'compared');
    await stand.deletePod(TWO[0], 'compared');
    const compared = (): string[][] => sockets.map(({ texts }) => texts.filter((text) => text.includes('"compared"')));
    await eventually(
      async () => compared(),
      (all) => all.every((texts) => texts.at(-1)?.startsWith('{"type":"DELETED"')),
    );
    const [ours, theirs] = compared();
    expect(ours).toEqual(theirs);
  } finally {
    for (const socket of sockets) socket.close();
  }
});

test.each([
  ['its server', 'https://headlamp.example.org'],
  ['its desktop app, whose pages are files', 'file://'],
])(
  'A-15 G-11 a websocket of a page of %s is refused unless `cors.origins` has its Origin, whatever its user may do',
  async (_, origin) => {
    const headers = { ...WATCHES['its pages'](gatehouse.url, tokenOf('whole')), origin };
    expect(await refusal('whole', watchOf('pods', '0'), headers)).toEqual({
      status: 403,
      message: 'the Origin of this request may not connect here',
    });
  },
);

// These two wait for rights to be read again; each has users of its own, so they run beside each other.
test.concurrent('websockets of Headlamp over the namespaces that are chosen tell of each, until the right to it goes', async () => {
  const [kept, lost] = TWO;
  const open = async (name: string): Promise<WatchSocket[]> => {
    const { list } = await get('leaving', LISTS.podsOf(name, TWO.length));
    expect(pathsOf(list)).toEqual([`${name}/pod`]);
    const path = watchOf('pods', list.metadata.resourceVersion, name);
    return Promise.all(FORMS.map((form) => WatchSocket.open(form, gatehouse.url, path, tokenOf('leaving'))));
  };
  const [ofKept, ofLost] = [await open(kept), await open(lost)];
  const all = [...ofKept, ...ofLost];
  try {
    for (const name of TWO) await stand.createPod(name, 'made');
    for (const name of TWO) await stand.deletePod(name, 'made');
    await eventually(
      async () => all.map(({ story }) => story),
      (stories) => stories.every((story) => story.at(-1)?.startsWith('DELETED')),
    );
    for (const [at, sockets] of [ofKept, ofLost].entries())
      for (const { story } of sockets) {
        const path = `${TWO[at]}/made`;
        expect(story.filter((line) => line !== `MODIFIED ${path}`)).toEqual([`ADDED ${path}`, `DELETED ${path}`]);
      }
    await stand.revoke('leaving', [lost]);
    await eventually(
      async () => ofLost.map(({ closedWith }) => closedWith),
      (codes) => codes.every((code) => code !== undefined),
    );
    expect(all.map(({ closedWith }) => closedWith)).toEqual([undefined, undefined, 1008, 1008]);
    expect((await get('leaving', LISTS.podsOf(lost, TWO.length))).status).toBe(403);
  } finally {
    for (const socket of all) socket.close();
  }
}, 120_000);

test.concurrent('KD-32 lists and websockets of Headlamp gain and lose the objects of namespaces with their user’s rights', async () => {
  const [kept, lost] = TWO;
  let items: ReadonlyMap<string, unknown> = new Map();
  let version = 0;
  let watch: WatchSocket | undefined;
  const ends: unknown[] = [];
  /** What a client shows that lists again when its watch has ended, or is refused with 410 because rights have changed since the list. */
  const shown = async (): Promise<readonly string[]> => {
    if (watch?.closedWith !== undefined) ends.push(watch.events.at(-1)?.object.code);
    if (!watch || watch.closedWith !== undefined) {
      const { list } = await get('changing', LISTS.pods);
      items = new Map(list.items.map((item) => [`${item.metadata.namespace}/${item.metadata.name}`, item]));
      version = Number(list.metadata.resourceVersion);
      const path = watchOf('pods', list.metadata.resourceVersion);
      watch = await WatchSocket.open('its pages', gatehouse.url, path, tokenOf('changing')).catch(() => undefined);
    }
    // Headlamp leaves out what is not newer than the list (`applyUpdate`, frontend/src/lib/k8s/api/v2/KubeList.ts).
    const newer = (watch?.events ?? []).filter(({ object }) => Number(object.metadata.resourceVersion) > version);
    return [...applyEvents(newer, items).keys()].toSorted();
  };
  const become = (...paths: readonly string[]): Promise<unknown> =>
    eventually(shown, (now) => now.join() === paths.toSorted().join());
  try {
    await become(`${kept}/pod`, `${lost}/pod`);
    await stand.grant('changing', [SPARE]);
    await become(`${kept}/pod`, `${lost}/pod`, `${SPARE}/pod`);
    await stand.createPod(SPARE, 'made');
    await become(`${kept}/pod`, `${lost}/pod`, `${SPARE}/made`, `${SPARE}/pod`);
    await stand.revoke('changing', [lost]);
    await become(`${kept}/pod`, `${SPARE}/made`, `${SPARE}/pod`);
    await stand.deletePod(SPARE, 'made');
    await become(`${kept}/pod`, `${SPARE}/pod`);
    expect([...new Set(ends)]).toEqual([410]);
    await stand.revoke('changing', [kept, SPARE]);
    await eventually(
      () => get('changing', LISTS.pods),
      ({ status }) => status === 403,
    );
  } finally {
    watch?.close();
  }
}, 120_000);
