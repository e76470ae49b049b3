import { LineCounter, parseDocument, type YAMLParseError } from 'yaml';

export type YamlContent = { readonly content: unknown } | { readonly fault: string };

/**
 * Reads one YAML document, or reports the first syntax error: the rest mostly follow from it. The message never quotes
 * the text, which may hold a secret.
 */
export function parseYaml(text: string): YamlContent {
  try {
    const lines = new LineCounter();
    const document = parseDocument(text, { prettyErrors: false, lineCounter: lines });
    const [first] = document.errors;
    // Resolving aliases throws for an alias without its anchor, and for too many aliases, with which a small text would
    // unfold to gigabytes.
    return first ? { fault: faultAt(first, lines) } : { content: document.toJS({ maxAliasCount: 100 }) };
  } catch {
    return { fault: 'not YAML: it nests too deep, has an alias without its anchor, or too many aliases' };
  }
}

function faultAt(error: YAMLParseError, lines: LineCounter): string {
  const { line } = lines.linePos(error.pos[0]);
  if (error.code === 'MULTIPLE_DOCS') return `holds a second YAML document at line ${line}; there may be one only`;
  return `not YAML at line ${line}: ${error.message.replace(/: ".*$/s, '')}`;
}
