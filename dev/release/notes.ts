/** The section of one version in a changelog in the form of Keep a Changelog, without its heading; undefined if there is none or it is empty. */
export function notesOf(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^## /m);
  const section = sections.find((text) => text.startsWith(`[${version}]`));
  // Up to the links that the page ends with.
  const text = section?.replace(/^.*\n?/, '').replace(/^\[[^\]]+\]: \S+$/gm, '');
  return text?.trim() || undefined;
}
