import type { Subject } from '../../authorization/authorizer.ts';
import type { ReportedRequest, SecurityEventFields } from '../../security-events.ts';

/** Who asks for a write, and from where. */
export interface Caller extends Subject {
  /** The caller's normalised address. Failed password checks count against it. */
  readonly source: string;
  /** The session that goes on when the caller changes the own password. Absent: none does. */
  readonly session?: string | undefined;
  /** What else the audit trail says about the request: its ids, the session, the client. */
  readonly trail: SecurityEventFields;
  /** The request, for the audit trail. */
  readonly request?: ReportedRequest | undefined;
  /** Aborts when the client has gone. Writes that have begun are completed nevertheless. */
  readonly signal: AbortSignal;
}
