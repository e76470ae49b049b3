import { stringify } from 'yaml';
import type { Answer } from './answer.ts';
import { wantsYaml } from './negotiation.ts';
import { type ApiRequest, isTrue } from './request.ts';

/** A JSON answer as the client wants to see it: in YAML, or indented for people. Watches are JSON in any case. */
export function presented(answer: Answer, { headers, query }: ApiRequest): Answer {
  if (answer.contentType !== undefined) return answer;
  if (wantsYaml(headers.accept)) {
    const text = stringify(JSON.parse(answer.text), { sortMapEntries: true });
    return { ...answer, text, contentType: 'application/yaml' };
  }
  return isTrue(query.get('pretty')) ? { ...answer, text: JSON.stringify(JSON.parse(answer.text), null, 2) } : answer;
}
