import { LineCounter, parseDocument, type YAMLParseError } from 'yaml';
import { z } from 'zod';
import { fitsHeader } from '../runtime/text/header-text.ts';
import { hashFault } from './password-hash.ts';
import { isClusterOwn, isEmail, isReservedName, isUserName, USER_STATES, type User } from './user.ts';
import { derivedUid } from './user-directory.ts';

/** A problem at one path of the file. It never quotes a value of the file, which may be a hash. */
export interface UsersFileProblem {
  /** E.g. `users[2].passwordHash`; `''` for the file as a whole. */
  readonly path: string;
  readonly message: string;
}

interface Problems {
  readonly problems: readonly [UsersFileProblem, ...UsersFileProblem[]];
}

export type UsersFileContent = { readonly users: readonly User[] } | Problems;

export interface UsersFileRules {
  /** The scope from which uids are derived. */
  readonly platform: string;
  readonly maxHashCost: number;
}

/** Parses a users file. Returns all of its users, or all problems at once. */
export function parseUsersFile(text: string, rules: UsersFileRules): UsersFileContent {
  const yaml = parseYaml(text);
  if ('problems' in yaml) return yaml;
  const parsed = fileSchema(rules.maxHashCost).safeParse(yaml.content);
  if (parsed.success) return { users: parsed.data.users.map((entry) => toUser(entry, rules.platform)) };
  const [first, ...others] = parsed.error.issues.flatMap(toProblems);
  return { problems: [first ?? { path: '', message: 'is not a users file' }, ...others] };
}

/**
 * Parses the YAML. Reports only the first syntax error, because the others mostly follow from it. It never quotes the text, which
 * holds hashes.
 */
function parseYaml(text: string): { readonly content: unknown } | Problems {
  try {
    const lines = new LineCounter();
    const document = parseDocument(text, { prettyErrors: false, lineCounter: lines });
    const [first] = document.errors;
    // `toJS` throws for an alias without its anchor, and for too many aliases, which could expand a small text to gigabytes.
    return first ? { problems: [faultAt(first, lines)] } : { content: document.toJS({ maxAliasCount: 100 }) };
  } catch {
    const message = 'not YAML: it nests too deep, has an alias without its anchor, or too many aliases';
    return { problems: [{ path: '', message }] };
  }
}

function faultAt(error: YAMLParseError, lines: LineCounter): UsersFileProblem {
  const { line } = lines.linePos(error.pos[0]);
  if (error.code === 'MULTIPLE_DOCS')
    return { path: '', message: `holds a second YAML document at line ${line}; there may be one only` };
  return { path: '', message: `not YAML at line ${line}: ${error.message.replace(/: ".*$/s, '')}` };
}

type Entry = z.infer<ReturnType<typeof entrySchema>>;

function toUser(entry: Entry, platform: string): User {
  return {
    name: entry.name,
    uid: entry.uid ?? derivedUid(platform, entry.name),
    passwordHash: entry.passwordHash,
    groups: entry.groups,
    state: entry.state,
    ...(entry.email === undefined ? {} : { email: entry.email }),
    ...(entry.email !== undefined && entry.emailVerified ? { emailVerified: true } : {}),
    ...(entry.locale === undefined ? {} : { locale: entry.locale }),
  };
}

const fileSchema = (maxHashCost: number) =>
  z.strictObject({
    users: z.array(entrySchema(maxHashCost)).superRefine((users, context) => {
      const firstAt = new Map<string, number>();
      users.forEach((user, index) => {
        const first = firstAt.get(user.name);
        if (first === undefined) firstAt.set(user.name, index);
        else
          context.addIssue({
            code: 'custom',
            path: [index, 'name'],
            message: `is the name of users[${first}] as well`,
          });
      });
    }),
  });

/**
 * Every access review of a user sends the user's groups to the cluster. With these limits they are about 64 KiB of the 3 MiB that
 * a request may have. More groups are a mistake, or an attempt to slow down others (A-46, docs/promises.md).
 */
const MOST_GROUPS = 1_000;
const LONGEST_GROUPS = 64 * 1024;
/** The longest text, in characters; Kubernetes allows names of this length. */
const LONGEST_TEXT = 253;

const tooLong = `is longer than ${LONGEST_TEXT} characters`;

const lengthOf = (groups: readonly string[]): number => groups.reduce((sum, group) => sum + group.length, 0);

const entrySchema = (maxHashCost: number) =>
  z.strictObject({
    name: z
      .string()
      .refine(isUserName, 'is not a lower-case DNS-1123 name')
      .refine((name) => !isReservedName(name), 'is reserved'),
    passwordHash: z.string().superRefine((stored, context) => {
      const fault = hashFault(stored, maxHashCost);
      if (fault) context.addIssue({ code: 'custom', message: fault });
    }),
    email: z.string().refine(isEmail, 'is not an ASCII e-mail address').optional(),
    emailVerified: z.boolean().optional(),
    locale: z
      .string()
      .max(LONGEST_TEXT, tooLong)
      .refine(isLanguageTag, 'is not a language tag such as "en" or "zh-CN"')
      .optional(),
    groups: z
      .array(
        z
          .string()
          .min(1, 'is empty')
          .refine((group) => !isClusterOwn(group), 'must not start with "system:" or "kubeadm:"')
          // Every call through the gateway sends the group to the cluster in a header.
          .refine(
            (group) => group === '' || fitsHeader(group),
            'must have no control characters, and no blank at its ends',
          ),
      )
      .max(MOST_GROUPS, `are more than ${MOST_GROUPS}`)
      .refine((groups) => lengthOf(groups) <= LONGEST_GROUPS, `are longer than ${LONGEST_GROUPS} characters together`)
      .default([]),
    state: z.enum(USER_STATES).default('Active'),
    uid: z.string().min(1, 'is empty').max(LONGEST_TEXT, tooLong).optional(),
  });

/** Whether the text is a well-formed tag of BCP 47; the language need not exist. */
function isLanguageTag(text: string): boolean {
  try {
    return Intl.getCanonicalLocales(text).length === 1;
  } catch {
    return false;
  }
}

/** Replaces the messages of zod with ones that can follow a path; our own messages stay as they are. */
function toProblems(issue: z.core.$ZodIssue): UsersFileProblem[] {
  const path = toPath(issue.path);
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ path: toPath([...issue.path, key]), message: 'is not a known setting' }));
  if (issue.code === 'invalid_value') return [{ path, message: `expected ${issue.values.map(String).join(' or ')}` }];
  if (issue.code !== 'invalid_type') return [{ path, message: issue.message }];
  const isMissing = issue.message.endsWith('received undefined');
  return [{ path, message: isMissing ? 'is required' : `expected ${KINDS[issue.expected] ?? issue.expected}` }];
}

const KINDS: Readonly<Record<string, string>> = {
  object: 'a map',
  array: 'a list',
  string: 'a text',
};

const toPath = (keys: readonly PropertyKey[]): string =>
  keys.reduce<string>(
    (path, key) => (typeof key === 'number' ? `${path}[${key}]` : `${path}${path ? '.' : ''}${String(key)}`),
    '',
  );
