/** A `sh` block of a page, as a person reads it. */
export interface DocumentedCommands {
  /** The heading that it stands under, and its place there: `First sign-in, 2`. */
  readonly name: string;
  readonly text: string;
}

/** The `sh` blocks of a page, in their order. Headings inside of other blocks are none. */
export function documentedCommands(markdown: string): DocumentedCommands[] {
  const commands: DocumentedCommands[] = [];
  const count = new Map<string, number>();
  let heading = '';
  let block: { readonly language: string; readonly lines: string[] } | undefined;
  for (const line of markdown.split('\n')) {
    const fence = /^```(\w*)$/.exec(line);
    if (!fence) {
      block?.lines.push(line);
      if (!block) heading = /^#+ (.*)$/.exec(line)?.[1] ?? heading;
    } else if (!block) block = { language: fence[1] ?? '', lines: [] };
    else {
      if (block.language === 'sh') {
        const place = (count.get(heading) ?? 0) + 1;
        count.set(heading, place);
        commands.push({ name: `${heading}, ${place}`, text: `${block.lines.join('\n')}\n` });
      }
      block = undefined;
    }
  }
  return commands;
}

/** The text of the first block of this language under a heading. */
export function documentedFile(markdown: string, heading: string, language: string): string {
  const [, section = ''] = markdown.split(new RegExp(`^#+ ${heading}$`, 'm'));
  const block = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(section)?.[1];
  if (block === undefined) throw new Error(`no ${language} under ${heading}`);
  return block;
}
