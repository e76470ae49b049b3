import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import type { RequestAttributes, Subject } from './authorizer.ts';
import {
  LONGEST_QUESTION,
  lengthOfSubject,
  MOST_QUESTIONS,
  RECENT_MS,
  type SharedQuestion,
} from './recent-questions.ts';

/** The first member of the text. A replica ignores a version that it does not know. */
const VERSION = 1;
/** How many bytes one replica may write. Twelve replicas stay below the 1 MiB of a Secret. */
const MOST_BYTES = 64 * 1024;
/**
 * The most bytes of the inflated text. 2,000 questions of usual length have 0.3 MB. We write no text that inflates to more
 * than this, and stop to inflate such a text here.
 */
const MOST_TEXT_BYTES = 1024 * 1024;

const utf8 = new TextDecoder('utf-8', { fatal: true });
const deflated = promisify(deflateRaw);
const inflated = promisify<Buffer, object, Buffer>(inflateRaw);

/** What one replica shares: its questions, each with its age at the moment of writing. */
export interface SharedText {
  /** The time on the wall clock of the replica that wrote it. */
  readonly writtenAtMs: number;
  readonly questions: readonly (Omit<SharedQuestion, 'askedAt'> & { readonly ageMs: number })[];
}

/**
 * The questions as bytes: deflated JSON, `[version, writtenAtMs, [[name, uid, groups, [[ageSeconds, …attributes]]]]]`, in
 * which each subject occurs once. Leaves out the last questions if all would have more than `MOST_BYTES`. `count`: how many
 * are in.
 */
export async function encodeQuestions({
  writtenAtMs,
  questions,
}: SharedText): Promise<{ bytes: Buffer; count: number }> {
  for (let count = Math.min(questions.length, MOST_QUESTIONS); ; ) {
    const text = toText(writtenAtMs, questions.slice(0, count));
    const bytes = await deflated(text);
    if ((bytes.length <= MOST_BYTES && text.length <= MOST_TEXT_BYTES) || count === 0) return { bytes, count };
    // Takes a few less than would fit if all had the same length, so that the second try mostly succeeds.
    const fits = Math.min(MOST_BYTES / bytes.length, MOST_TEXT_BYTES / text.length);
    count = Math.floor(count * Math.min(0.9, fits * 0.95));
  }
}

/**
 * `undefined` for anything that `encodeQuestions` of this version would not have written. A text has at most 1 MiB, each
 * row at least one question, and all rows together at most 2,000. A subject has at most 4,096 characters and 200 groups.
 * Stops at the first row beyond a limit, so no text costs more than a full one of ours.
 */
export async function decodeQuestions(bytes: Buffer): Promise<SharedText | undefined> {
  if (bytes.length > MOST_BYTES) return undefined;
  const text = await inflated(bytes, { maxOutputLength: MOST_TEXT_BYTES }).catch(() => undefined);
  return text && toShared(parsed(text));
}

/** The text has only arrays, so no member name can occur twice. `undefined` for text that is not JSON. */
function parsed(text: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(text));
  } catch {
    return undefined;
  }
}

function toText(writtenAtMs: number, questions: SharedText['questions']): Buffer {
  const bySubject = new Map<string, { readonly subject: Subject; readonly asked: unknown[] }>();
  for (const { subject, attributes, ageMs } of questions) {
    const key = JSON.stringify([subject.name, subject.uid, subject.groups]);
    const ofOne = bySubject.get(key) ?? { subject, asked: [] };
    bySubject.set(key, ofOne);
    ofOne.asked.push([Math.round(ageMs / 1000), ...toWords(attributes)]);
  }
  const rows = [...bySubject.values()].map(({ subject: { name, uid, groups }, asked }) => [name, uid, groups, asked]);
  return Buffer.from(JSON.stringify([VERSION, Math.round(writtenAtMs), rows]));
}

/** An absent member is `null`, so that the question has the same key at every replica. */
function toWords(attributes: RequestAttributes): (string | null)[] {
  if ('nonResource' in attributes) return [attributes.nonResource.path, attributes.nonResource.verb];
  const { verb, group, version, resource, subresource = null, namespace = null, name = null } = attributes.resource;
  return [verb, group, version, resource, subresource, namespace, name];
}

function toShared(value: unknown): SharedText | undefined {
  if (!Array.isArray(value) || value.length !== 3) return undefined;
  const [version, writtenAtMs, subjects] = value as unknown[];
  if (version !== VERSION || !Number.isSafeInteger(writtenAtMs) || !Array.isArray(subjects)) return undefined;
  const questions: SharedText['questions'][number][] = [];
  for (const row of subjects as unknown[]) {
    const ofOne = toQuestions(row, MOST_QUESTIONS - questions.length);
    if (!ofOne) return undefined;
    questions.push(...ofOne);
  }
  return { writtenAtMs: writtenAtMs as number, questions };
}

/** `most`: how many questions the row may have. */
function toQuestions(row: unknown, most: number): SharedText['questions'] | undefined {
  if (!Array.isArray(row) || row.length !== 4) return undefined;
  const [name, uid, groups, asked] = row as unknown[];
  if (!Array.isArray(asked) || asked.length === 0 || asked.length > most) return undefined;
  const subject = toSubject(name, uid, groups);
  if (!subject) return undefined;
  const questions = (asked as unknown[]).map((one) => toQuestion(subject, one));
  return questions.every((question) => question !== undefined) ? questions : undefined;
}

function toSubject(name: unknown, uid: unknown, groups: unknown): Subject | undefined {
  if (!isWord(name) || !isWord(uid) || !isWords(groups)) return undefined;
  const subject: Subject = { name, uid, groups };
  return lengthOfSubject(subject) <= LONGEST_QUESTION ? subject : undefined;
}

function toQuestion(subject: Subject, asked: unknown): SharedText['questions'][number] | undefined {
  if (!Array.isArray(asked)) return undefined;
  const [ageSeconds, ...words] = asked as unknown[];
  const attributes = toAttributes(words);
  if (!attributes || !Number.isSafeInteger(ageSeconds)) return undefined;
  const ageMs = (ageSeconds as number) * 1000;
  return ageMs >= 0 && ageMs <= RECENT_MS ? { subject, attributes, ageMs } : undefined;
}

function toAttributes(words: readonly unknown[]): RequestAttributes | undefined {
  if (words.length === 2) {
    const [path, verb] = words;
    return isWord(path) && isWord(verb) ? { nonResource: { path, verb } } : undefined;
  }
  const [verb, group, version, resource, ...rest] = words;
  const [subresource, namespace, name] = rest;
  if (words.length !== 7 || !rest.every((word) => word === null || isWord(word))) return undefined;
  if (!isWord(verb) || !isWord(group) || !isWord(version) || !isWord(resource)) return undefined;
  return {
    resource: {
      verb,
      group,
      version,
      resource,
      ...(isWord(subresource) && { subresource }),
      ...(isWord(namespace) && { namespace }),
      ...(isWord(name) && { name }),
    },
  };
}

const isWord = (value: unknown): value is string => typeof value === 'string' && value.length <= LONGEST_QUESTION;
const isWords = (value: unknown): value is string[] => Array.isArray(value) && value.every(isWord);
