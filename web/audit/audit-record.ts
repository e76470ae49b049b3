/** What is read of an audit record. What it does not say is empty. */
export interface AuditRecord {
  /** When the request came (RFC 3339). */
  readonly time: string;
  readonly user: string;
  /** The user whom the caller impersonated. */
  readonly impersonated: string;
  readonly verb: string;
  /** With the subresource: `pods/log`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  /** What was requested, where it is no resource. */
  readonly address: string;
  /** The status of the answer; 0: there is none in the record. */
  readonly code: number;
  /** In a word: `Success` or `Failure`. */
  readonly status: string;
  readonly sources: readonly string[];
}

/** What is at this path of members, in whichever case they are written: `User.Username`, `User.username`, `user.username`. */
function anyCaseAt(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const name of path) {
    if (typeof found !== 'object' || found === null) return undefined;
    const own = Object.entries(found).find(([key]) => key.toLowerCase() === name);
    found = own?.[1];
  }
  return found;
}

/**
 * Reads an audit record as KubeSphere's collectors store it, or as Kubernetes writes it (audit.k8s.io/v1). Whether the members begin with a capital
 * depends on who wrote it (docs/contract/events.md, section 3).
 */
export function readAudit(record: unknown): AuditRecord {
  const text = (...path: readonly string[]): string => {
    const found = anyCaseAt(record, ...path);
    return typeof found === 'string' ? found : '';
  };
  const [resource, subresource] = [text('objectref', 'resource'), text('objectref', 'subresource')];
  const code = Number(anyCaseAt(record, 'responsestatus', 'code'));
  const sources = anyCaseAt(record, 'sourceips');
  return {
    time: text('requestreceivedtimestamp') || text('stagetimestamp'),
    user: text('user', 'username'),
    impersonated: text('impersonateduser', 'username'),
    verb: text('verb'),
    resource: subresource === '' ? resource : `${resource}/${subresource}`,
    namespace: text('objectref', 'namespace'),
    name: text('objectref', 'name'),
    address: text('requesturi'),
    code: Number.isInteger(code) && code > 0 ? code : 0,
    status: text('responsestatus', 'status'),
    sources: (Array.isArray(sources) ? sources : [sources]).filter((one): one is string => typeof one === 'string'),
  };
}
