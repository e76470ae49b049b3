import type { WatchEvent } from '../../src/kubernetes/reflector/lister-watcher.ts';
import type { FakeClock } from '../support/fake-clock.ts';
import type { Command, Deeds } from './commands.ts';
import type { Change, History } from './history.ts';
import type { ModelServer } from './model-server.ts';
import type { ModelWatch } from './model-watch.ts';
import { errorEvent, ODD_EVENTS } from './wire.ts';

/** What a command acts on. */
export interface Stage {
  readonly server: ModelServer;
  readonly clock: FakeClock;
  /** An event was lost or swapped on its way. */
  lost(): void;
  restored(to: number): void;
  /** The server says that its history is gone. */
  outOfReach(why: string): void;
  /** Before each byte. */
  active(): void;
}

/** Does what the command says, at once. */
export function take(command: Command, stage: Stage): void {
  const deed = DEEDS[command.do] as (stage: Stage, details: Command) => void;
  deed(stage, command);
}

const HOUR_MS = 3_600_000;

const DEEDS: { readonly [D in keyof Deeds]: (stage: Stage, details: Deeds[D]) => void } = {
  create: (stage, { node }) => write(stage, (history) => history.create(history.keyOf(node))),
  update: (stage, { node }) => write(stage, (history) => history.update(history.keyOf(node))),
  delete: (stage, { node }) => write(stage, (history) => history.delete(history.keyOf(node))),
  recreate: (stage, { node }) =>
    write(stage, (history) => {
      history.delete(history.keyOf(node));
      history.create(history.keyOf(node));
    }),
  pass: (stage) => write(stage, (history) => history.passOver()),
  partial: (stage, { node }) =>
    spoil(stage, [node], (watch) => watch.end({ kind: 'unreadable', detail: 'the last line has no end' })),
  drop: (stage, { node }) => spoil(stage, [node], (watch) => lose(stage, watch)),
  reorder: (stage, { node, other }) =>
    spoil(stage, [node, other], (watch, changes) => {
      lose(stage, watch);
      sendAll(stage, watch, changes.toReversed());
    }),
  replay,
  bookmark: ({ server }) => server.sendBookmarks(),
  low_bookmark: ({ server }) => server.sendBookmarks(3),
  odd_events: (stage) => sendRaw(stage, ODD_EVENTS),
  error: (stage, { code }) => {
    if (code === 410 && stage.server.openWatches.length > 0) stage.outOfReach('410');
    sendRaw(stage, [errorEvent(code)]);
  },
  close: ({ server }) => server.endAll({ kind: 'closed' }),
  reset: ({ server }) => server.endAll({ kind: 'reset' }),
  half_open: ({ server }) => server.killAll(),
  silence: ({ server }) => server.silence(),
  heal: ({ server }) => server.heal(),
  compact: ({ server }) => server.history.compact(),
  expire: ({ server }) => {
    server.endAll({ kind: 'reset' });
    server.history.passOver();
    server.history.compact();
  },
  restore,
  behind: ({ server }, { count }) => server.fallBehind(count),
  rotate: ({ server }, { count }) => {
    server.unauthorized = count;
    server.endAll({ kind: 'reset' });
  },
  restart: ({ server, clock }, { ms }) => {
    server.downUntil = clock.monotonic() + ms;
    server.endAll({ kind: 'reset' });
  },
  wait: () => {}, // the clock moves after each command
  jump_wall: ({ clock }) => clock.jumpWall(-HOUR_MS),
  lists: ({ server }, { fault, times }) => pushTimes(server.listFaults, fault, times),
  watches: ({ server }, { fault, times }) => pushTimes(server.watchFaults, fault, times),
};

function write({ server }: Stage, change: (history: History) => void): void {
  change(server.history);
  server.flush();
}

/** Writes these nodes, and does something else than sending it to the watches that are up to date. */
function spoil(
  { server }: Stage,
  nodes: readonly number[],
  instead: (watch: ModelWatch, changes: readonly Change[]) => void,
): void {
  const { history } = server;
  server.flush();
  const before = history.version;
  for (const name of nodes.map((node) => history.keyOf(node))) {
    history.create(name);
    history.update(name);
  }
  const changes = history.changesAfter(before, history.version);
  for (const watch of server.openWatches.filter(({ sent }) => sent === before)) instead(watch, changes);
  server.flush();
}

function lose({ server, lost }: Stage, watch: ModelWatch): void {
  lost();
  watch.sent = server.history.version;
}

/** What was told before is told again as it was. */
function replay(stage: Stage, { count }: Deeds['replay']): void {
  const { history } = stage.server;
  const changes = history.changesAfter(Math.max(0, history.version - count), history.version);
  for (const watch of stage.server.openWatches)
    sendAll(
      stage,
      watch,
      changes.filter(({ version }) => version <= watch.sent),
    );
}

function sendAll({ server }: Stage, watch: ModelWatch, changes: readonly Change[]): void {
  for (const change of changes) if (watch.isOpen) server.send(watch, change);
}

function sendRaw(stage: Stage, events: readonly WatchEvent[]): void {
  for (const watch of stage.server.openWatches) {
    for (const event of events) {
      if (!watch.isOpen) break;
      stage.active();
      watch.send(event);
    }
  }
}

function restore({ server, restored }: Stage, { count }: Deeds['restore']): void {
  const version = Math.max(0, server.history.version - count);
  server.endAll({ kind: 'reset' });
  server.killAll();
  server.history.restore(version);
  restored(version);
}

function pushTimes<Fault>(faults: Fault[], fault: Fault, times: number): void {
  for (let time = 0; time < times; time++) faults.push(fault);
}
