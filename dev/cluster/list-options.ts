import { parseFieldSelector, selectedName } from './field-selector.ts';
import type { KubeObject } from './kube-object.ts';
import { parseLabelSelector } from './label-selector.ts';
import { type ApiRequest, isTrue, type ResourceTarget } from './request.ts';
import { ApiError, badRequest, type InvalidField, invalid } from './status.ts';

/** What a list or watch asks for, checked as `ValidateListOptions` of apimachinery does. */
export interface ListOptions {
  /** Undefined if the request has no version, or an empty one: it reads the newest state. */
  readonly revision: number | undefined;
  readonly match: string;
  readonly limit: number;
  readonly continueToken: string;
  /** Whether a selector was given; then a list cannot say how many items remain. */
  readonly selective: boolean;
  readonly selects: (object: KubeObject) => boolean;
  readonly allowBookmarks: boolean;
  readonly sendInitialEvents: boolean | undefined;
  readonly timeoutSeconds: number;
}

export function parseListOptions({ query }: ApiRequest, target: ResourceTarget): ListOptions {
  const labelSelector = query.get('labelSelector') ?? '';
  const fieldSelector = query.get('fieldSelector') ?? '';
  const byLabels = parseLabelSelector(labelSelector);
  const byFields = parseFieldSelector(fieldSelector, target.kind);
  const sendInitialEvents = query.get('sendInitialEvents');
  const limit = parseCount('limit', query);
  return {
    revision: parseRevision(query.get('resourceVersion') ?? ''),
    match: query.get('resourceVersionMatch') ?? '',
    // One object needs no pages.
    limit: selectedName(fieldSelector) === '' ? limit : 0,
    continueToken: query.get('continue') ?? '',
    selective: labelSelector !== '' || fieldSelector !== '',
    selects: (object) => byLabels(object.metadata.labels ?? {}) && byFields(object),
    allowBookmarks: isTrue(query.get('allowWatchBookmarks')),
    sendInitialEvents: sendInitialEvents === null ? undefined : isTrue(sendInitialEvents),
    timeoutSeconds: parseCount('timeoutSeconds', query),
  };
}

function parseRevision(text: string): number | undefined {
  if (text === '') return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  const why = `Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`;
  throw new ApiError({ code: 400, reason: 'BadRequest', message: `resourceVersion: ${why}` });
}

function parseCount(name: string, query: URLSearchParams): number {
  const text = query.get(name) ?? '';
  if (text === '') return 0;
  if (!/^-?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

const forbidden = (field: string, why: string): InvalidField => ({
  field,
  reason: 'FieldValueForbidden',
  message: `Forbidden: ${why}`,
});

const unknownMatch = (match: string): InvalidField => ({
  field: 'resourceVersionMatch',
  reason: 'FieldValueNotSupported',
  message: `Unsupported value: ${JSON.stringify(match)}: supported values: "Exact", "NotOlderThan", ""`,
});

function refuse(problems: readonly InvalidField[]): void {
  if (problems.length > 0) throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions', name: '' }, problems);
}

export function checkListOptions(options: ListOptions): void {
  const { match, revision, continueToken, sendInitialEvents } = options;
  const problems: InvalidField[] = [];
  const no = (why: string): number => problems.push(forbidden('resourceVersionMatch', why));
  if (match !== '') {
    if (revision === undefined) no('resourceVersionMatch is forbidden unless resourceVersion is provided');
    if (continueToken !== '') no('resourceVersionMatch is forbidden when continue is provided');
    if (match !== 'Exact' && match !== 'NotOlderThan') problems.push(unknownMatch(match));
    if (match === 'Exact' && revision === 0) no('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
  }
  if (sendInitialEvents !== undefined)
    problems.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  refuse(problems);
}

export function checkWatchOptions(options: ListOptions, watchList: boolean): void {
  const { match, sendInitialEvents, continueToken } = options;
  const problems: InvalidField[] = [];
  const no = (why: string): number => problems.push(forbidden('resourceVersionMatch', why));
  if (sendInitialEvents !== undefined) {
    if (match !== 'NotOlderThan') no('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
    if (!watchList) {
      const why = 'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled';
      problems.push(forbidden('sendInitialEvents', why));
    }
  }
  if (match !== '') {
    if (sendInitialEvents === undefined)
      no('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided');
    if (match !== 'NotOlderThan') problems.push(unknownMatch(match));
    if (continueToken !== '') no('resourceVersionMatch is forbidden when continue is provided');
  }
  refuse(problems);
}
