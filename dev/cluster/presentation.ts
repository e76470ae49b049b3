import { stringify } from 'yaml';
import type { Answer } from './answer.ts';
import { wantsYaml } from './negotiation.ts';
import { type ApiRequest, isTrue } from './request.ts';

/** Converts a JSON answer to YAML or indents it, as the client asks. Watches are always plain JSON. */
export function presented(answer: Answer, { headers, query }: ApiRequest): Answer {
  if (answer.contentType !== undefined) return answer;
  if (wantsYaml(headers.accept)) {
    const text = stringify(JSON.parse(answer.text), { sortMapEntries: true });
    return { ...answer, text, contentType: 'application/yaml' };
  }
  return isTrue(query.get('pretty')) ? { ...answer, text: JSON.stringify(JSON.parse(answer.text), null, 2) } : answer;
}
