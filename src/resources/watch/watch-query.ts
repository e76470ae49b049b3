import { parseBooleanWord } from '../../runtime/text/boolean-word.ts';
import {
  invalid,
  type ParameterReader,
  type ParameterReaders,
  parseInteger64,
  quoted,
  readParameters,
  refusal,
} from '../../runtime/text/parameters.ts';
import { badRequest, type StatusCause } from '../../status-error.ts';
import { allOf, type Condition } from '../query/filter.ts';
import {
  allTerms,
  type ChosenObjects,
  type FilterTerm,
  type Setting as ListSetting,
  type ListVocabulary,
  listParameters,
  toFilterTerm,
} from '../query/list-query.ts';
import type { Within } from '../query/within.ts';
import { parseVersion, type WatchVersion } from './watch-version.ts';

/** What a watch request asks for, parsed once. */
export interface WatchQuery extends ChosenObjects {
  /** The version that the client has. Absent: it has nothing. */
  readonly from?: WatchVersion;
  /** Whether to begin with the whole list, not older than `from`. Absent: yes if there is no `from`. */
  readonly initialEvents?: boolean;
  /** Absent: the client sets no limit. */
  readonly timeoutSeconds?: number;
  readonly bookmarks: boolean;
  /** Each object is sent as a `PartialObjectMetadata`: no spec, no status. Set by the `Accept` header, not by the query. */
  readonly metadataOnly?: boolean;
  /** The part of the list that the caller may see. Set by the caller's rights, not by the query. Absent: all. */
  readonly within?: Within;
}

interface Settings extends WatchQuery {
  readonly lastEventId?: string;
  /** Whether `resourceVersionMatch` is given. */
  readonly hasMatch?: boolean;
}

type Setting = Partial<Omit<Settings, keyof ChosenObjects>> | FilterTerm;

const MATCH = 'NotOlderThan';

/** The API server refuses one without the other, too. */
const WITHOUT_THE_OTHER = `query parameters "sendInitialEvents" and "resourceVersionMatch=${MATCH}" go together`;

/** A day: nobody needs a longer stream, and a stream ends with a bookmark to resume from. */
const LONGEST_SECONDS = 86_400n;

function readWatch(text: string, name: string): Setting | StatusCause {
  const isTrue = text === '' || parseBooleanWord(text) === true;
  return isTrue ? {} : invalid(name, `${quoted(text)} is neither true nor false`);
}

/** Accepts any text as a version. A watch from one that we never issued gets a 410, as from the API server. */
const readFrom = (text: string): Setting => (text === '' || text === '0' ? {} : { from: parseVersion(text) });

function readFields(text: string, name: string): Setting | StatusCause {
  if (text === '') return {};
  const fields = parseFieldSelector(text, name);
  return typeof fields === 'function' ? toFilterTerm(fields, name, text) : fields;
}

/** Clients of Kubernetes watch one object by `metadata.name`. The API server has this field for every kind. */
const TERM = /^metadata\.name(==|!=|=)([a-z0-9.-]{1,253})$/;
const MOST_TERMS = 64;

/** Reads a field selector over the name of an object. The object must fulfil all of its terms. */
function parseFieldSelector(text: string, name: string): Condition | StatusCause {
  const terms = text.split(',');
  if (terms.length > MOST_TERMS) return invalid(name, `more than ${MOST_TERMS} terms`, 'FieldValueTooMany');
  const conditions: Condition[] = [];
  for (const term of terms) {
    const [, operator, wanted] = TERM.exec(term) ?? [];
    if (wanted === undefined) return invalid(name, `${quoted(term)} is not metadata.name=… or metadata.name!=…`);
    conditions.push((object) => (object.name === wanted) === (operator !== '!='));
  }
  return allOf(conditions);
}

function readInitialEvents(text: string, name: string): Setting | StatusCause {
  const initialEvents = parseBooleanWord(text);
  return initialEvents === undefined ? invalid(name, `${quoted(text)} is not a boolean`) : { initialEvents };
}

function readMatch(text: string, name: string): Setting | StatusCause {
  return text === MATCH
    ? { hasMatch: true }
    : invalid(name, `${quoted(text)} is not ${MATCH}`, 'FieldValueNotSupported');
}

function readTimeout(text: string, name: string): Setting | StatusCause {
  if (text === '') return {};
  const seconds = parseInteger64(text);
  if (seconds === undefined || seconds < 0n) return invalid(name, `${quoted(text)} is not a number of seconds`);
  if (seconds === 0n) return {};
  return { timeoutSeconds: Number(seconds < LONGEST_SECONDS ? seconds : LONGEST_SECONDS) };
}

function readBookmarks(text: string, name: string): Setting | StatusCause {
  const bookmarks = text === '' ? true : parseBooleanWord(text);
  return bookmarks === undefined ? invalid(name, `${quoted(text)} is not a boolean`) : { bookmarks };
}

/** Turns a list's parameter into a watch's. A filter chooses the events of its objects. Paging and order are refused. */
const toWatchReader = (name: string, read: ParameterReader<ListSetting>): ParameterReader<Setting> => {
  const isOrder = ['limit', 'page', 'sortBy', 'ascending'].includes(name);
  if (isOrder) return () => refusal('FieldValueForbidden', `query parameter "${name}" does not go with watch`, name);
  return (text): Setting | StatusCause => {
    const setting = read(text, name);
    return 'condition' in setting || 'reason' in setting ? setting : {};
  };
};

/** Every parameter of a watch of a kind. */
export const watchParameters = (vocabulary: ListVocabulary): ParameterReaders<Setting> =>
  new Map<string, ParameterReader<Setting>>([
    ...[...listParameters(vocabulary)].map(([name, read]) => [name, toWatchReader(name, read)] as const),
    ['watch', readWatch],
    ['fieldSelector', readFields],
    ['resourceVersion', readFrom],
    ['resourceVersionMatch', readMatch],
    ['sendInitialEvents', readInitialEvents],
    ['timeoutSeconds', readTimeout],
    ['allowWatchBookmarks', readBookmarks],
    ['lastEventId', (text) => ({ lastEventId: text })],
  ]);

/**
 * Reads the text behind the `?`, and throws as the parser of a list does. `lastEventId` is the `Last-Event-ID` header of a
 * client of server-sent events that reconnects: the last version that it got. It is empty if the client sent none, and
 * `undefined` in other streams. It wins over the version in the URL, which is still that of the first connection. Polyfills
 * of EventSource that cannot set a header send it in the query.
 */
export function createWatchQueryParser(
  vocabulary: ListVocabulary,
): (queryString: string, lastEventId?: string) => WatchQuery {
  const parameters = watchParameters(vocabulary);
  return (queryString, headerId) => {
    const terms: FilterTerm[] = [];
    let settings: Partial<Settings> = {};
    for (const setting of readParameters(queryString, parameters)) {
      if ('condition' in setting) terms.push(setting);
      else settings = { ...settings, ...setting };
    }
    const { hasMatch = false, lastEventId: queryId = '', ...given } = settings;
    if (hasMatch !== (given.initialEvents !== undefined)) throw badRequest(WITHOUT_THE_OTHER);
    const query: WatchQuery = {
      bookmarks: true,
      ...given,
      ...allTerms(terms),
    };
    const lastEventId = headerId === undefined ? '' : headerId || queryId;
    return lastEventId === '' ? query : { ...query, from: parseVersion(lastEventId) };
  };
}
