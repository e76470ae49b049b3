import type { Replacement } from '../../kubernetes/reflector/store.ts';
import type { Steps } from '../../runtime/time-slices.ts';
import type { ChangeLog, PreparedChange } from './change-log.ts';
import { type ListedCollection, later, NOTHING } from './collection-version.ts';
import { Content } from './content.ts';
import type { Entry } from './entry.ts';
import type { ListProgress } from './list-progress.ts';

/** Keys that are looked at in one step, at most a microsecond each. */
const KEYS_A_STEP = 64;

/** A list made ready aside: to show it is a loop over its changes, some 0.5 µs each. */
export interface ListDraft {
  readonly content: Content;
  readonly list: ListedCollection;
  readonly gone: readonly Entry[];
  /** Removals first. */
  readonly changes: readonly PreparedChange[];
}

interface ReplacingList {
  readonly entries: readonly Entry[];
  readonly replacement: Replacement;
}

/** What the list takes the place of. None of it changes before the draft is shown or dropped, but for what is to be added. */
interface ReplacedList {
  readonly content: Content;
  readonly changes: ChangeLog;
  readonly progress: ListProgress;
  /** An entry with what is added to it now and the texts that it shares with the one before. */
  finish(entry: Entry): Entry;
}

/** Objects that the list shows unchanged keep their leaves, with what is cached of them, and are no news to anybody. */
export function* draftOf({ entries, replacement }: ReplacingList, replaced: ReplacedList): Steps<ListDraft> {
  const content = new Content(replaced.content);
  const gone = yield* removeOthers(content, entries);
  const { news, newest } = yield* newsIn({ entries, replacement }, replaced);
  // Where most leaves would be spoilt one node at a time, all are made anew.
  if (news.length * 2 > entries.length) yield* content.putAll(news);
  else
    for (const entry of news) {
      content.put(entry);
      yield;
    }
  const list = { ...replacement, newest, count: content.size };
  return { content, list, gone, changes: yield* changesOf({ gone, news, list }, replaced) };
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

/** And the newest version of all that are listed. */
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

/** In another history equal numbers prove nothing; equal texts do. */
function isKnown(entry: Entry, sameHistory: boolean, { content, finish }: ReplacedList): boolean {
  const known = content.get(entry.key);
  if (known?.uid !== entry.uid || known.resourceVersion !== entry.resourceVersion) return false;
  return sameHistory || Buffer.compare(known.encoded.bytes(), finish(entry).encoded.bytes()) === 0;
}

/** In another history the versions of objects prove nothing: they count as changed with the list. */
function* changesOf(
  { gone, news, list }: Pick<ListDraft, 'gone' | 'list'> & { readonly news: readonly Entry[] },
  { content, changes, progress }: ReplacedList,
): Steps<PreparedChange[]> {
  const isTrusted = progress.objects.trusts(list.sameHistory);
  const prepared: PreparedChange[] = [];
  for (const entry of gone) {
    const change = changes.prepareRemoval(entry, list.resourceVersion);
    if (change) prepared.push(change);
    yield;
  }
  for (const entry of news) {
    const previous = content.get(entry.key);
    // Whoever resumes before the list is shown may be told of this object once more than needed.
    progress.brought(entry, previous);
    const changedAt = isTrusted ? entry.resourceVersion : list.resourceVersion;
    prepared.push(changes.prepare(entry, previous, changedAt));
    yield;
  }
  return prepared;
}
