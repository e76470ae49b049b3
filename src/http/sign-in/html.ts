/** HTML that was made by `html`, so that every text in it is escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Inserted = string | Html | readonly Html[] | undefined;

/** A template whose inserted texts are escaped; only `Html` goes in as it is. `undefined` inserts nothing. */
export const html = (strings: TemplateStringsArray, ...inserted: readonly Inserted[]): Html =>
  new Html(String.raw({ raw: strings }, ...inserted.map(toMarkup)));

function toMarkup(value: Inserted): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return value.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
  return value instanceof Html ? value.text : value.map(({ text }) => text).join('');
}
