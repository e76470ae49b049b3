/** A line of an object in YAML 1.2. */
export interface YamlLine {
  /** The members and places that lead there, joined: names the line among all. */
  readonly path: string;
  readonly depth: number;
  /** What stands in front: `- `, a member, or both. */
  readonly lead: string;
  /** The value, if it stands on this line. */
  readonly text: string;
  /** Whether lines of this value follow that can be folded. */
  readonly isParent: boolean;
}

/** Words that YAML readers may take for something else than a text. */
const SPECIAL = /^(?:true|false|null|yes|no|on|off|y|n|~)$/i;
/** What YAML takes for a number although JavaScript does not (YAML 1.2, 10.3.2). */
const NUMBER = /^[-+]?\.(?:inf|nan)$/i;
/** Control characters but tab and line end, and those that change the direction of text (UAX 9). */
const HIDING = String.raw`\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff`;
/** What is never shown as it is. */
const HIDDEN = new RegExp(`[${HIDING}]`, 'g');
/** Deeper than that nobody looks, and a browser stands still. */
const DEEPEST = 100;
/** A text that needs no quotes. */
const PLAIN = /^[A-Za-z_./][\w./@+=,() -]*(?::[\w./@+=,()-][\w./@+=,() -]*)*$/;

/** Whether a reader of YAML takes a text without quotes for something else. */
const isAmbiguous = (text: string): boolean => SPECIAL.test(text) || NUMBER.test(text) || !Number.isNaN(Number(text));

/** Between quotes, with every character that could hide something by its number, as YAML and JSON write it. */
const quoted = (text: string): string =>
  JSON.stringify(text).replaceAll(HIDDEN, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);

function scalar(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  return PLAIN.test(value) && !isAmbiguous(value) && !/ #|\s$/.test(value) ? value : quoted(value);
}

const isBranch = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0;

/** An empty map or list, a text, a number: what stands on the line of its member. */
const onLine = (value: unknown): string =>
  typeof value === 'object' && value !== null ? (Array.isArray(value) ? '[]' : '{}') : scalar(value);

/** The lines of a value. A list stands under its member without a step to the right, as kubectl prints it. */
export function yamlLines(value: unknown): readonly YamlLine[] {
  const lines: YamlLine[] = [];
  if (isBranch(value)) addBlock(value, { path: '', depth: 0, level: 0 }, lines);
  else addLeaf(value, { path: '', depth: 0, level: 0 }, '', lines);
  return lines;
}

interface Place {
  readonly path: string;
  /** Steps to the right. */
  readonly depth: number;
  /** Maps and lists around it. */
  readonly level: number;
}

/** The lines are added to those before, because an object can have a million of them. */
function addBlock(part: object, { path, depth, level }: Place, lines: YamlLine[]): void {
  if (level >= DEEPEST) {
    lines.push({ path: `${path}/`, depth, lead: '', text: '# …', isParent: false });
    return;
  }
  const isList = Array.isArray(part);
  for (const [name, member] of Object.entries(part)) {
    const own = { path: `${path}/${name.replaceAll('/', '~1')}`, depth, level: level + 1 };
    if (isList) addItem(member, own, lines);
    else addPair(name, member, own, lines);
  }
}

function addPair(name: string, member: unknown, place: Place, lines: YamlLine[]): void {
  const lead = `${/^[\w./][\w./-]*$/.test(name) && !isAmbiguous(name) ? name : quoted(name)}:`;
  if (!isBranch(member)) {
    addLeaf(member, place, `${lead} `, lines);
    return;
  }
  lines.push({ path: place.path, depth: place.depth, lead, text: '', isParent: true });
  addBlock(member, { ...place, depth: place.depth + (Array.isArray(member) ? 0 : 1) }, lines);
}

/** The first line of an item stands behind the dash, which is as wide as a step. */
function addItem(member: unknown, place: Place, lines: YamlLine[]): void {
  if (!isBranch(member)) {
    addLeaf(member, place, '- ', lines);
    return;
  }
  const at = lines.length;
  addBlock(member, { ...place, depth: place.depth + 1 }, lines);
  const first = lines[at];
  if (first) lines[at] = { ...first, depth: place.depth, lead: `- ${first.lead}` };
}

function addLeaf(value: unknown, { path, depth }: Place, lead: string, lines: YamlLine[]): void {
  if (typeof value !== 'string' || !value.includes('\n') || /^\s|\n\n$/.test(value) || value.search(HIDDEN) >= 0) {
    lines.push({ path, depth, lead, text: onLine(value), isParent: false });
    return;
  }
  const isEnded = value.endsWith('\n');
  lines.push({ path, depth, lead, text: isEnded ? '|' : '|-', isParent: true });
  for (const [place, text] of (isEnded ? value.slice(0, -1) : value).split('\n').entries())
    lines.push({ path: `${path}/${place}`, depth: depth + 1, lead: '', text, isParent: false });
}
