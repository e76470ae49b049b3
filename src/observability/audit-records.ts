import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import type { ReportedUser, SecurityEventFields, SecurityEventName } from '../security-events.ts';
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
 * the head of the answer is, so that it has its status; that of a stream that begins at once.
 */
export function createAuditRecords({ output, domain, clock, random }: AuditRecordParts): AuditTrail {
  const newId = (): string => random.bytes(8).toString('hex');
  return (entry) => {
    if (!output.isEnabled(entry.level)) return;
    const { request, event, fields } = entry;
    const id = request?.id ?? idOf(fields) ?? newId();
    const arrived = clock.now() - (request ? clock.monotonic() - request.startedAt : 0);
    const write = (): void => {
      const rest = shortened(recordOf(entry, { id, arrived, now: clock.now(), domain }));
      output.write(`${RECORD_MARK}${JSON.stringify(id)},${JSON.stringify(rest).slice(1)}\n`);
    };
    if (request && event !== 'cluster_call_began') request.whenAnswered(write);
    else write();
  };
}

/** The id of the request in which the server noticed something: ours, if the caller has chosen one. */
function idOf({ requestId, ownRequestId }: SecurityEventFields): string | undefined {
  const id = ownRequestId ?? requestId;
  return id === undefined ? undefined : String(id);
}

interface RecordFrame {
  readonly id: string;
  /** Wall clock in milliseconds, as `now`. */
  readonly arrived: number;
  readonly now: number;
  readonly domain: string;
}

/** A record without its id. */
interface AuditRecord extends Readonly<Record<string, unknown>> {
  readonly Annotations: Readonly<Record<string, string>>;
}

function recordOf(entry: AuditEntry, { id, arrived, now, domain }: RecordFrame): AuditRecord {
  const { event, fields, request, sentence, level } = entry;
  const words = isCall(event) ? undefined : AUDIT_WORDS[event];
  const hasBegun = event === 'cluster_call_began';
  const user = userOf(words, fields, request?.caller);
  const object = words ? objectOf(words, fields, domain) : calledObject(fields);
  const impersonated = impersonatedUser(fields, request?.impersonated);
  const told = { requestId: [id], user: [user.Username, object?.Name], impersonatedUser: [impersonated?.Username] };
  const leftOut = groupsLeftOut(request?.caller, user) + groupsLeftOut(request?.impersonated, impersonated);
  return {
    Level: 'Metadata',
    Stage: hasBegun ? 'RequestReceived' : 'ResponseComplete',
    RequestURI: request?.path ?? fields['path'],
    Verb: words?.verb ?? fields['verb'],
    User: user,
    ImpersonatedUser: impersonated,
    SourceIPs: fields['source'] === undefined ? undefined : [fields['source']],
    UserAgent: request?.userAgent,
    ObjectRef: object,
    ResponseStatus: hasBegun ? undefined : statusOf(entry, words),
    Message: sentence,
    RequestReceivedTimestamp: new Date(arrived).toISOString(),
    StageTimestamp: new Date(now).toISOString(),
    Annotations: annotationsOf(
      { event, level: level === 'warn' ? level : undefined, ...fields, groupsLeftOut: leftOut || undefined },
      told,
    ),
  };
}

const isCall = (event: SecurityEventName): event is CallEvent =>
  event === 'cluster_call' || event === 'cluster_call_began';

/** Names that no person has, because those that begin with `system:` are reserved for the cluster. */
const THIS_SERVER = 'system:gatehouse';
const NOBODY = 'system:anonymous';

interface RecordedUser {
  readonly Username: unknown;
  readonly UID?: string | undefined;
  readonly Groups?: readonly string[];
}

/** Who did it. Somebody who was refused and has no verified token may be anybody; the user that was tried is then an annotation. */
function userOf(
  words: AuditWords | undefined,
  { user, clientId, askedBy, result }: SecurityEventFields,
  caller: ReportedUser | undefined,
): RecordedUser {
  if (words?.by === 'server') return { Username: THIS_SERVER };
  if (words?.by === 'webhook') return { Username: askedBy === undefined ? NOBODY : `system:webhook:${askedBy}` };
  if (words?.by === 'client') {
    const client = askedBy ?? clientId;
    return { Username: client === undefined ? NOBODY : `system:client:${client}` };
  }
  if (caller && caller.name === user) return { Username: user, UID: caller.uid, Groups: firstGroups(caller.groups) };
  return { Username: user === undefined || isRefused({ result }) ? NOBODY : user };
}

/** Only for a caller who impersonates somebody: every call to the cluster is made as its caller. */
function impersonatedUser(
  { impersonatedUser, user }: SecurityEventFields,
  impersonated: ReportedUser | undefined,
): RecordedUser | undefined {
  if (impersonatedUser === undefined || impersonatedUser === user) return undefined;
  return { Username: impersonatedUser, Groups: firstGroups(impersonated?.groups ?? []) };
}

/** The most characters of all groups of a user, so that a record of usual names has less than 8 KiB. */
const GROUPS_LENGTH = 1_024;

/** The first groups that fit. */
function firstGroups(groups: readonly string[]): readonly string[] {
  let length = 0;
  return groups.filter((group) => {
    length += group.length;
    return length <= GROUPS_LENGTH;
  });
}

/** How many groups of a user a record leaves out; 0 if it tells none of them at all. */
const groupsLeftOut = (user: ReportedUser | undefined, recorded: RecordedUser | undefined): number =>
  user && recorded?.Groups ? user.groups.length - recorded.Groups.length : 0;

interface RecordedObject {
  readonly Resource: unknown;
  readonly Namespace?: unknown;
  readonly Name: unknown;
  readonly APIGroup?: unknown;
  readonly APIVersion?: unknown;
  readonly Subresource?: unknown;
}

const objectOf = (words: AuditWords, fields: SecurityEventFields, domain: string): RecordedObject => ({
  Resource: words.resource,
  Name: words.name === undefined ? undefined : fields[words.name],
  APIGroup: words.group && `${words.group}.${domain}`,
  Subresource: words.subresource,
});

/** A path of the cluster that names no resource, such as `/version`, has no object. */
function calledObject(fields: SecurityEventFields): RecordedObject | undefined {
  const { resource, namespace, name, group, version, subresource } = fields;
  if (resource === undefined) return undefined;
  return {
    ...{ Resource: resource, Namespace: namespace, Name: name },
    ...{ APIGroup: group, APIVersion: version, Subresource: subresource },
  };
}

/** The status of the access log for a client that disconnected before an answer. It says nothing about what was done. */
const CLIENT_GONE = 499;

/** The form of `metav1.Status`. A page of the sign-in tells a refusal with 200, so the status of the answer does not decide alone. */
function statusOf({ fields, request }: AuditEntry, words: AuditWords | undefined): object {
  const code = request?.status ?? fields['status'];
  const hasFailed = words?.isFailure || isRefused(fields) || (Number(code) >= 400 && code !== CLIENT_GONE);
  return { status: hasFailed ? 'Failure' : 'Success', reason: fields['reason'], code };
}

/** The fields that always are a member of their own: of any event, or of a call to the cluster. */
const MEMBERS: ReadonlySet<string> = new Set([
  ...['source', 'status', 'reason', 'ownRequestId'],
  ...['verb', 'group', 'version', 'resource', 'subresource', 'namespace', 'name', 'path'],
]);

const ANNOTATION = 'gatehouse.io/';

/** All fields that no other member tells, as text; `told` has the values that other members tell. */
function annotationsOf(
  fields: SecurityEventFields,
  told: Readonly<Record<string, readonly unknown[]>>,
): Record<string, string> {
  const annotations: Record<string, string> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || MEMBERS.has(name) || told[name]?.includes(value)) continue;
    const text = Array.isArray(value) ? JSON.stringify(value) : String(value);
    annotations[ANNOTATION + name] = SECRET_MEMBERS.has(name) ? REDACTED : text;
  }
  return annotations;
}

/** The most characters of the texts of a record that is too long, which matter least. */
const SHORT_PATH = 256;
const SHORT_USER_AGENT = 64;

/** Cuts a record to 8 KiB: first the path and the user agent, then every text alike. Such a record says that it is cut. */
function shortened(record: AuditRecord): Readonly<Record<string, unknown>> {
  const line = boundedLine(record);
  if (line === record) return line;
  return boundedLine({
    ...record,
    RequestURI: textOf(record['RequestURI'])?.slice(0, SHORT_PATH),
    UserAgent: textOf(record['UserAgent'])?.slice(0, SHORT_USER_AGENT),
    Annotations: { ...record.Annotations, [`${ANNOTATION}isCut`]: 'true' },
  });
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
