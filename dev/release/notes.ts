/** The section of a version in a changelog (Keep a Changelog), without its heading; undefined if it is absent or empty. */
export function notesOf(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^## /m);
  const section = sections.find((text) => text.startsWith(`[${version}]`));
  // Without the links at the end of the page.
  const text = section?.replace(/^.*\n?/, '').replace(/^\[[^\]]+\]: \S+$/gm, '');
  return text?.trim() || undefined;
}
