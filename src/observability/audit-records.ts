import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { ReportedRequest, ReportedUser, SecurityEventFields, SecurityEventName } from '../security-events.ts';
import { AUDIT_WORDS, type AuditWords, type CallEvent } from './audit-words.ts';
import { boundedLine } from './bounded-line.ts';
import { RECORD_MARK, REDACTED, type RecordOutput, SECRET_MEMBERS } from './logger.ts';
import { type AuditEntry, type AuditTrail, isRefused } from './security-events.ts';

interface AuditRecordParts {
  readonly output: RecordOutput;
  /** The domain of the platform, such as `gatehouse.io`. */
  readonly domain: string;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * The trail in the form of Kubernetes' audit records (audit.k8s.io, level Metadata), with the capitalised members under which KubeSphere 3.4
 * stores them: one JSON object in a line, `AuditID` first, because 3.4's collector recognizes them by that (AU-03). A record is written when
 * the answer has been sent, so that it has its status; that of a stream that begins at once.
 */
export function createAuditRecords({ output, domain, clock, random }: AuditRecordParts): AuditTrail {
  const newId = (): string => random.bytes(8).toString('hex');
  return (entry) => {
    if (!output.isEnabled(entry.level)) return;
    const { request, event, fields } = entry;
    const id = request?.id ?? idOf(fields) ?? newId();
    const arrived = clock.now() - (request ? clock.monotonic() - request.startedAt : 0);
    const write = (): void => {
      const rest = boundedLine(recordOf(entry, { id, arrived, now: clock.now(), domain }));
      output.write(`${RECORD_MARK}${JSON.stringify(id)},${JSON.stringify(rest).slice(1)}\n`);
    };
    if (request && event !== 'cluster_call_began') request.atEnd(write);
    else write();
  };
}

/** The id of the request in which the server noticed something, which no caller can choose. */
const idOf = ({ requestId, ownRequestId = requestId }: SecurityEventFields): string | undefined =>
  ownRequestId === undefined ? undefined : String(ownRequestId);

interface RecordFrame {
  readonly id: string;
  /** Wall clock in milliseconds, as `now`. */
  readonly arrived: number;
  readonly now: number;
  readonly domain: string;
}

/** The record without its id. */
function recordOf(entry: AuditEntry, { id, arrived, now, domain }: RecordFrame): Readonly<Record<string, unknown>> {
  const { event, fields, request, sentence } = entry;
  const words = isCall(event) ? undefined : AUDIT_WORDS[event];
  const hasBegun = event === 'cluster_call_began';
  return {
    Level: 'Metadata',
    Stage: hasBegun ? 'RequestReceived' : 'ResponseComplete',
    RequestURI: fields['path'] ?? request?.path,
    Verb: words?.verb ?? fields['verb'],
    User: userOf(words, fields, request?.caller),
    ImpersonatedUser: impersonatedUser(fields, request),
    SourceIPs: fields['source'] === undefined ? undefined : [fields['source']],
    UserAgent: request?.userAgent,
    ObjectRef: words ? objectOf(words, fields, domain) : calledObject(fields),
    ResponseStatus: hasBegun ? undefined : statusOf(entry, words),
    Message: sentence,
    RequestReceivedTimestamp: new Date(arrived).toISOString(),
    StageTimestamp: new Date(now).toISOString(),
    Annotations: annotationsOf(event, fields, id),
  };
}

const isCall = (event: SecurityEventName): event is CallEvent =>
  event === 'cluster_call' || event === 'cluster_call_began';

/** Names that no person has, because those that begin with `system:` are reserved for the cluster. */
const THIS_SERVER = 'system:gatehouse';
const NOBODY = 'system:anonymous';
const clientName = (id: unknown): string => `system:client:${id}`;

function userOf(words: AuditWords | undefined, fields: SecurityEventFields, caller: ReportedUser | undefined): object {
  if (words?.by === 'server') return { Username: THIS_SERVER };
  const { user, clientId, askedBy = clientId } = fields;
  if (words?.by === 'client') return { Username: askedBy === undefined ? NOBODY : clientName(askedBy) };
  const Username = user ?? NOBODY;
  return caller?.name === Username ? { Username, UID: caller?.uid, Groups: caller?.groups } : { Username };
}

/** Only for a caller who impersonates somebody: every call to the cluster is made as its caller. */
function impersonatedUser(
  { impersonatedUser, user }: SecurityEventFields,
  request?: ReportedRequest,
): object | undefined {
  if (impersonatedUser === undefined || impersonatedUser === user) return undefined;
  return { Username: impersonatedUser, Groups: request?.impersonated?.groups };
}

const objectOf = (words: AuditWords, fields: SecurityEventFields, domain: string): object => ({
  Resource: words.resource,
  Name: words.name === undefined ? undefined : fields[words.name],
  APIGroup: words.group && `${words.group}.${domain}`,
  Subresource: words.subresource,
});

/** A path of the cluster that names no resource, such as `/version`, has no object. */
function calledObject({
  resource,
  namespace,
  name,
  group,
  version,
  subresource,
}: SecurityEventFields): object | undefined {
  if (resource === undefined) return undefined;
  return {
    Resource: resource,
    Namespace: namespace,
    Name: name,
    APIGroup: group,
    APIVersion: version,
    Subresource: subresource,
  };
}

/** The form of `metav1.Status`. A page of the sign-in tells a refusal with 200, so the status of the answer does not decide alone. */
function statusOf({ fields, request }: AuditEntry, words: AuditWords | undefined): object {
  const code = request?.status ?? fields['status'];
  const hasFailed = words?.isFailure || isRefused(fields) || Number(code) >= 400;
  return { status: hasFailed ? 'Failure' : 'Success', reason: fields['reason'], code };
}

/** The fields that have a member of their own. */
const MEMBERS: ReadonlySet<string> = new Set([
  'user',
  'impersonatedUser',
  'source',
  'status',
  'reason',
  'ownRequestId',
  'verb',
  'group',
  'version',
  'resource',
  'subresource',
  'namespace',
  'name',
  'path',
]);

/** Everything else that the event tells, as text. The id of the request is told only if its caller chose it. */
function annotationsOf(event: SecurityEventName, fields: SecurityEventFields, id: string): Record<string, string> {
  const annotations: Record<string, string> = { [`${ANNOTATION}event`]: event };
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || MEMBERS.has(name) || (name === 'requestId' && value === id)) continue;
    annotations[ANNOTATION + name] = SECRET_MEMBERS.has(name) ? REDACTED : String(value);
  }
  return annotations;
}

const ANNOTATION = 'gatehouse.io/';
