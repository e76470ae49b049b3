import type { SecurityEventFields, SecurityEventName, SecurityEvents } from '../../../src/security-events.ts';

/** The audit trail, as a list. */
export class RecordedEvents implements SecurityEvents {
  readonly all: (SecurityEventFields & { readonly event: SecurityEventName })[] = [];

  report(event: SecurityEventName, fields: SecurityEventFields): void {
    this.all.push({ event, ...fields });
  }

  named = (event: SecurityEventName): readonly SecurityEventFields[] => this.all.filter((one) => one.event === event);
}
