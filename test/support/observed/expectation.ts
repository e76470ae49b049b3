import { createHash } from 'node:crypto';
import type { Expectation, Matcher } from './case.ts';
import type { WireAnswer } from './exchange.ts';
import { shapeProblems } from './shapes.ts';

interface Item {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
}

export interface Judgement {
  readonly platform: string;
  /** The answers of earlier cases, by id, for `equalTo`. */
  readonly earlier: ReadonlyMap<string, WireAnswer>;
}

/** The differences between the answer and the expectation, a sentence each; empty if there are none. */
export function problemsOf(answer: WireAnswer, expect: Expectation, { platform, earlier }: Judgement): string[] {
  const body = parsed(answer.text);
  const items = (Array.isArray(body) ? body : ((body as { items?: Item[] } | undefined)?.items ?? [])) as Item[];
  const statuses = [expect.status ?? answer.status].flat();
  const found: string[] = [];
  const check = (good: boolean, problem: string): void => void (good || found.push(problem));

  check(statuses.includes(answer.status), `status is ${answer.status}, not ${statuses.join(' or ')}`);
  if (expect.shape) found.push(...shapeProblems(answer, body, expect.shape));
  if (expect.error) check(at(body, '/error') === expect.error, `error is ${at(body, '/error')}, not ${expect.error}`);
  if (expect.reason)
    check([expect.reason].flat().includes(String(at(body, '/reason'))), `reason is ${at(body, '/reason')}`);
  if (expect.mentions) {
    const text = String(at(body, '/message') ?? at(body, '/error_description'));
    check(text.includes(expect.mentions), `"${text}" does not mention ${expect.mentions}`);
  }
  if (expect.names) {
    const names = items.map((item) => item.metadata.name);
    check(JSON.stringify(names) === JSON.stringify(expect.names), `names are ${names.join()}`);
  }
  if (expect.totalItems !== undefined)
    check(at(body, '/totalItems') === expect.totalItems, `totalItems is ${at(body, '/totalItems')}`);
  for (const [name, usage] of Object.entries(expect.usage ?? {}))
    found.push(...usageProblems(items.find((item) => item.metadata.name === name) ?? (body as Item), usage, platform));
  for (const [pointer, matcher] of Object.entries(expect.fields ?? {}))
    check(
      matches(at(body, pointer), matcher),
      `${pointer} is ${JSON.stringify(at(body, pointer))}, not ${JSON.stringify(matcher)}`,
    );
  for (const [pointer, matcher] of Object.entries(expect.eachItem ?? {}))
    for (const item of items) {
      const own = JSON.parse(JSON.stringify(matcher).replaceAll('<name>', item.metadata.name)) as Matcher;
      check(
        matches(at(item, pointer), own),
        `${item.metadata.name}: ${pointer} is ${JSON.stringify(at(item, pointer))}`,
      );
    }
  for (const [name, matcher] of Object.entries(expect.headers ?? {}))
    check(
      matches(answer.headers[name.toLowerCase()], matcher),
      `${name} is ${answer.headers[name.toLowerCase()]}, not ${JSON.stringify(matcher)}`,
    );
  if (expect.layout) check(laidOut(body, expect.layout) === answer.text, `the layout is not ${expect.layout}`);
  if (expect.text !== undefined) found.push(...textProblems(answer.text, expect.text));
  if (expect.events) {
    const events = eventsIn(answer.text);
    check(JSON.stringify(events) === JSON.stringify(expect.events), `events are ${events.join()}`);
  }
  if (expect.equalTo) {
    const other = earlier.get(expect.equalTo);
    check(
      other?.status === answer.status && other.text === answer.text,
      `differs from ${expect.equalTo}: ${answer.text}`,
    );
  }
  return found;
}

function textProblems(text: string, expected: NonNullable<Expectation['text']>): string[] {
  if (typeof expected === 'string')
    return text === expected ? [] : [`the body is ${JSON.stringify(text)}, not ${JSON.stringify(expected)}`];
  const [lines, sha256] = [text.split('\n').length - 1, createHash('sha256').update(text).digest('hex')];
  return lines === expected.lines && sha256 === expected.sha256 ? [] : [`the body has ${lines} lines, ${sha256}`];
}

function usageProblems(
  item: Item | undefined,
  usage: Readonly<Record<string, string>> | null,
  platform: string,
): string[] {
  const annotations = item?.metadata.annotations ?? {};
  const prefix = `node.${platform}.io/`;
  const there = Object.fromEntries(
    Object.entries(annotations).flatMap(([key, value]) =>
      key.startsWith(prefix) ? [[key.slice(prefix.length), value]] : [],
    ),
  );
  if (usage === null) return Object.keys(there).length === 0 ? [] : ['usage annotations are there'];
  return Object.entries(usage)
    .filter(([key, value]) => there[key] !== value)
    .map(([key, value]) => `${item?.metadata.name}: ${key} is ${there[key]}, not ${value}`);
}

function matches(value: unknown, matcher: Matcher): boolean {
  if (matcher === null) return value === undefined || value === null;
  if (typeof matcher !== 'object' || Array.isArray(matcher)) return equal(value, matcher);
  const rule = matcher as Exclude<Matcher, null | string | number | boolean | readonly unknown[]>;
  if (rule.any) return value !== undefined && value !== null && value !== '';
  if (rule.type) return rule.type === 'array' ? Array.isArray(value) : typeof value === rule.type;
  if (rule.match !== undefined) return typeof value === 'string' && new RegExp(rule.match).test(value);
  if (rule.not !== undefined) return typeof value !== 'string' || !new RegExp(rule.not).test(value);
  if (rule.oneOf) return rule.oneOf.some((one) => matches(value, one as Matcher));
  if (rule.contains) {
    const members = (Array.isArray(value) ? value.map(String) : String(value ?? '').split(',')).map((one) =>
      one.trim().toLowerCase(),
    );
    return rule.contains.every((one) => members.includes(one.toLowerCase()));
  }
  return equal(value, matcher);
}

const laidOut = (body: unknown, layout: NonNullable<Expectation['layout']>): string =>
  layout === 'compact' ? JSON.stringify(body) : JSON.stringify(body, null, 2);

/** The lines of a watch, as `TYPE name`. */
function eventsIn(text: string): string[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines
    .map((line) => parsed(line) as { readonly type: string; readonly object: Item } | undefined)
    .map((event) => `${event?.type} ${event?.object.metadata.name}`)
    .sort();
}

const equal = (a: unknown, b: unknown): boolean => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));

/** Sorts members by name, because their order in an object is not part of the contract. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, sorted(member)]),
  );
}

/** The value at a JSON pointer (RFC 6901). */
function at(value: unknown, pointer: string): unknown {
  const steps = pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  return steps.reduce<unknown>((node, step) => (node as Record<string, unknown> | undefined | null)?.[step], value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
