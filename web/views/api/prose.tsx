/** Text of a description: paragraphs, and code between backticks. It is in English in every language of the page. */
export function Prose({ text, id }: { readonly text: string; readonly id?: string }) {
  const paragraphs = text.trim().split(/\n\s*\n/);
  return (
    <div class="prose soft" lang="en" id={id}>
      {paragraphs.map((paragraph) => (
        <p key={paragraph}>
          {paragraph.split('`').map((part, place) => (place % 2 === 1 ? <code>{part}</code> : part))}
        </p>
      ))}
    </div>
  );
}
