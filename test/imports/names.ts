/** Whether a name of the table means this file: the file itself, or a folder above it. */
export function covers(name: string, file: string): boolean {
  const parts = file.split('/');
  return name.split('/').every((part, at) => isSame(part, parts[at]));
}

/** The name that means this file most exactly: the longest path, and of two as long the one without `*`. */
export function mostExact(names: readonly string[], file: string): string | undefined {
  const covering = names.filter((name) => covers(name, file));
  return covering.sort((one, other) => depth(other) - depth(one) || stars(one) - stars(other))[0];
}

function isSame(part: string, given: string | undefined): boolean {
  if (given === undefined) return false;
  const [before, after] = part.split('*');
  if (before === undefined || after === undefined) return part === given;
  return given.length >= part.length && given.startsWith(before) && given.endsWith(after);
}

const depth = (name: string): number => name.split('/').length;
const stars = (name: string): number => name.split('*').length;
