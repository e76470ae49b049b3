import { CLIENT_PARAMETERS, type ClientSetting } from '../../resources/query/client-parameters.ts';
import { parseSelector } from '../../resources/query/selector.ts';
import {
  invalid,
  type ParameterReader,
  parseInteger64,
  quoted,
  readParameters,
  refusal,
} from '../../runtime/text/parameters.ts';
import type { StatusCause } from '../../status-error.ts';
import type { Sought } from './sought.ts';

export interface SearchQuery {
  readonly sought: Sought;
  /** The most objects in the answer. */
  readonly limit: number;
}

const DEFAULT_LIMIT = 50;
/** Each object is some kilobytes of metadata, so the longest answers have about a megabyte. */
const MOST_HITS = 500;
/** No name is longer (RFC 1123 subdomains). */
const LONGEST_TEXT = 253;

type Setting = Partial<SearchQuery> & ClientSetting;

const PARAMETERS = new Map<string, ParameterReader<Setting>>([
  ['q', readSought],
  ['limit', readLimit],
  ...CLIENT_PARAMETERS,
]);

/** Reads the text behind the `?` of a search. Throws one 400 that names every bad parameter, and `q` if it is missing. */
export function parseSearchQuery(queryString: string): SearchQuery {
  const settings = readParameters(queryString, PARAMETERS, (good, areGood) =>
    good.some(({ sought }) => sought) || !areGood('q') ? [] : [required('is required')],
  );
  const { sought, limit = DEFAULT_LIMIT }: Setting = Object.assign({}, ...settings);
  if (!sought) throw new Error('a search without q was not refused');
  return { sought, limit };
}

const required = (what: string): StatusCause => refusal('FieldValueRequired', `query parameter "q" ${what}`, 'q');

/** What cannot be part of a name that anybody searches for. */
const CONTROL = /\p{Cc}/u;

function readSought(text: string, name: string): Setting | StatusCause {
  if (text === '') return required('is empty');
  if (text.includes('=')) return readLabel(text, name);
  if (text.length > LONGEST_TEXT) return invalid(name, `longer than ${LONGEST_TEXT} characters`, 'FieldValueTooLong');
  if (CONTROL.test(text)) return invalid(name, 'it has a control character');
  return { sought: { text } };
}

/** One requirement of a selector, in its plainest form. */
const LABEL = /^([^ =!<>(),]+)=([^ =!<>(),]*)$/;

function readLabel(text: string, name: string): Setting | StatusCause {
  const [, key = '', value = ''] = LABEL.exec(text) ?? [];
  if (key === '') return invalid(name, `${quoted(text)} is not a label in the form key=value`);
  const selector = parseSelector(text);
  if (!('matches' in selector)) return invalid(name, selector.message, selector.reason);
  return { sought: { label: { key, value } } };
}

function readLimit(text: string, name: string): Setting | StatusCause {
  if (text === '') return {};
  const limit = Number(parseInteger64(text) ?? Number.NaN);
  return limit >= 0 && limit <= MOST_HITS
    ? { limit }
    : invalid(name, `${quoted(text)} is not an integer from 0 to ${MOST_HITS}`);
}
