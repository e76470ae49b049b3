import type { Replacement } from '../../kubernetes/reflector/store.ts';
import type { Steps } from '../../runtime/time-slices.ts';
import type { ChangeLog, PreparedChange, PreparedChanges } from './change-log.ts';
import { type ListedCollection, later, NOTHING } from './collection-version.ts';
import type { Entry } from './entry.ts';
import type { ListProgress } from './list-progress.ts';
import type { Content } from './ordered-index.ts';

/** How many keys one step looks at, at most a microsecond each. */
const KEYS_A_STEP = 64;

/** A list that is ready to be shown and still invisible. To show it is a loop over its changes, some 0.2 µs each. */
export interface ListDraft {
  readonly content: Content;
  readonly list: ListedCollection;
  readonly gone: readonly Entry[];
  readonly changes: PreparedChanges;
  /** The keys of objects whose added annotations changed, each with the version of that change. */
  readonly added: ReadonlyMap<string, string>;
}

interface ReplacingList {
  readonly entries: readonly Entry[];
  readonly replacement: Replacement;
}

/** What the list replaces. Nobody writes to it while the draft is made. Only what `finish` returns may change. */
interface ReplacedList {
  readonly content: Content;
  readonly changes: ChangeLog;
  readonly progress: ListProgress;
  /** Returns the entry with its present annotations. It shares equal texts with the entry that it replaces. */
  finish(entry: Entry): Entry;
}

/**
 * Prepares a list. Objects that did not change keep their leaves, with the bytes cached there, and cause no event for
 * watchers.
 */
export function* draftOf({ entries, replacement }: ReplacingList, replaced: ReplacedList): Steps<ListDraft> {
  const content = replaced.content.copy();
  const gone = yield* removeOthers(content, entries);
  const { news, newest } = yield* newsIn({ entries, replacement }, replaced);
  // If most objects changed, it is cheaper to make all leaves again than to change them one object at a time.
  if (news.length * 2 > entries.length) yield* content.putAll(news);
  else
    for (const entry of news) {
      content.put(entry);
      yield;
    }
  const list = { ...replacement, newest, count: content.size };
  return { content, list, gone, ...(yield* changesOf({ gone, news, list }, replaced)) };
}

function* removeOthers(content: Content, entries: readonly Entry[]): Steps<Entry[]> {
  const keys = new Set<string>();
  for (const { key } of entries) {
    keys.add(key);
    if (keys.size % KEYS_A_STEP === 0) yield;
  }
  const gone: Entry[] = [];
  let looked = 0;
  for (const entry of content.entries()) {
    if (!keys.has(entry.key)) gone.push(entry);
    if (++looked % KEYS_A_STEP === 0) yield;
  }
  for (const { key } of gone) {
    content.remove(key);
    yield;
  }
  return gone;
}

/** Returns the entries that are new or changed, and the newest version of all entries. */
function* newsIn(
  { entries, replacement }: ReplacingList,
  replaced: ReplacedList,
): Steps<{ news: Entry[]; newest: string }> {
  const news: Entry[] = [];
  let { newest } = NOTHING;
  for (const entry of entries) {
    newest = later(newest, entry.resourceVersion);
    if (!isKnown(entry, replacement.sameHistory, replaced)) news.push(replaced.finish(entry));
    yield;
  }
  return { news, newest };
}

/** If the list begins another history, equal versions prove nothing, but equal bytes do. */
function isKnown(entry: Entry, sameHistory: boolean, { content, finish }: ReplacedList): boolean {
  const known = content.get(entry.key);
  if (known?.uid !== entry.uid || known.resourceVersion !== entry.resourceVersion) return false;
  return sameHistory || Buffer.compare(known.encoded.bytes(), finish(entry).encoded.bytes()) === 0;
}

/** If the list begins another history, the versions of objects prove nothing, so all count as changed with the list. */
function* changesOf(
  { gone, news, list }: Pick<ListDraft, 'gone' | 'list'> & { readonly news: readonly Entry[] },
  { content, changes, progress }: ReplacedList,
): Steps<Pick<ListDraft, 'changes' | 'added'>> {
  const isTrusted = progress.objects.trusts(list.sameHistory);
  const prepared: PreparedChange[] = [];
  const added = new Map<string, string>();
  for (const entry of gone) {
    const change = changes.prepareRemoval(entry, list.resourceVersion);
    if (change) prepared.push(change);
    yield;
  }
  for (const entry of news) {
    const previous = content.get(entry.key);
    const addedAt = progress.broughtAt(entry, previous);
    if (addedAt !== undefined) added.set(entry.key, addedAt);
    const changedAt = isTrusted ? entry.resourceVersion : list.resourceVersion;
    prepared.push(changes.prepare(entry, previous, changedAt));
    yield;
  }
  return { changes: yield* changes.prepareAll(prepared), added };
}
