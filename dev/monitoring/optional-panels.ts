import { lines, of, quantile, type Row, rate, sumBy } from './panel.ts';

/** Without data unless `gateway.enabled`. */
export const GATEWAY_ROW: Row = {
  title: 'Gateway (gateway.enabled)',
  panels: [
    lines(
      'Calls to the cluster',
      'reqps',
      [[sumBy('kind, code', rate('gatehouse_gateway_requests_total')), '{{kind}} {{code}}']],
      'Calls to the paths of the cluster, and their answers. A stream counts when it ends.',
    ),
    lines(
      'Not passed on, or not answered',
      'reqps',
      [[sumBy('reason', rate('gatehouse_gateway_refusals_total')), '{{reason}}']],
      'away, timeout, unreachable and full concern the cluster. credential, impersonation and not_granted concern the rights of Gatehouse there. All others concern the callers.',
    ),
    lines(
      'Answers of the cluster, 99 %',
      's',
      [[quantile(0.99, 'kind', 'gatehouse_gateway_upstream_duration_seconds'), '{{kind}}']],
      'Time from sending a call to the headers of its answer: the time of the cluster only.',
    ),
    lines(
      'Calls under way',
      'none',
      [
        [`sum(${of('gatehouse_gateway_requests_in_flight')})`, 'under way'],
        [`sum(${of('gatehouse_gateway_requests_waiting')})`, 'giving way to other requests'],
      ],
      'limits.maxGatewayRequests bounds them. If many calls wait, the pods are busy with other requests.',
    ),
    lines(
      'Open streams',
      'none',
      [
        [sumBy('kind', of('gatehouse_gateway_streams')), '{{kind}}'],
        [`sum(${of('gatehouse_gateway_upgrades_in_flight')})`, 'upgraded'],
      ],
      'Watches, logs, exec, attach and port-forward; limits.maxGatewayStreams bounds them.',
    ),
    lines(
      'Bytes of calls',
      'Bps',
      [[sumBy('direction', rate('gatehouse_gateway_bytes_total')), '{{direction}}']],
      'Bodies and streams, from the clients (sent) and to the clients (received).',
    ),
    lines(
      'Users of gateway.accounts',
      'none',
      [
        [`max by (state) (${of('gatehouse_gateway_accounts')})`, '{{state}}'],
        [`max by (reason) (${of('gatehouse_gateway_accounts_faults')})`, 'fault: {{reason}}'],
      ],
      'Users that gateway.accounts chooses, and those of them whom the cluster lets Gatehouse impersonate. The two differ for seconds; a fault has an alert.',
    ),
  ],
};

/** Without data unless `logging.host` is set. */
export const LOGS_ROW: Row = {
  title: 'Logs (logging.host)',
  panels: [
    lines(
      'Log queries',
      'reqps',
      [[sumBy('operation, result', rate('gatehouse_log_queries_total')), '{{operation}} {{result}}']],
      'Log queries, and how they ended.',
    ),
    lines(
      'Requests to the log store',
      'reqps',
      [[sumBy('purpose, code', rate('gatehouse_log_store_request_duration_seconds_count')), '{{purpose}} {{code}}']],
      'none means no complete answer, also if the client has disconnected. GatehouseLogStoreFails fires if there are only failures.',
    ),
    lines(
      'Answers of the log store, 99 %',
      's',
      [[quantile(0.99, 'purpose', 'gatehouse_log_store_request_duration_seconds'), '{{purpose}}']],
      'The time of the store only. After 30 s the answer is 504.',
    ),
    lines(
      'Log queries under way',
      'none',
      [[`sum(${of('gatehouse_log_queries_in_flight')})`, 'under way']],
      'Exports count until their end. limits.maxLogQueries bounds them for each pod.',
    ),
    lines(
      'Exports cut',
      'ops',
      [[`sum(${rate('gatehouse_log_exports_cut_total')})`, 'cut']],
      'Exports that broke off because the store failed.',
    ),
  ],
};

/** Only kinds that are held have objects and bytes: without data while nobody asks for one. */
export const KINDS_ROW: Row = {
  title: 'Kinds',
  panels: [
    lines(
      'Objects of kinds',
      'none',
      [[`max by (resource) (${of('gatehouse_kinds_objects')})`, '{{resource}}']],
      'Objects of the kinds that a pod holds, because somebody asks for them.',
    ),
    lines(
      'Memory of kinds',
      'bytes',
      [
        [`max by (resource) (${of('gatehouse_kinds_bytes')})`, '{{resource}}'],
        [`max(sum by (pod) (${of('gatehouse_kinds_bytes')}))`, 'all in one pod'],
        [`min(${of('gatehouse_kinds_memory_limit_bytes')})`, 'limit'],
      ],
      'A kind that would pass the limit is held by fields, or refused with 503. GatehouseKindRefusedForMemory fires then.',
    ),
    lines(
      'Kinds held',
      'none',
      [[`count by (way) (${of('gatehouse_kinds_held')} == 1)`, '{{way}}']],
      'whole: encoded objects; fields: what filters read, and the objects of a page are read from the cluster. All pods together.',
    ),
    lines(
      'Kinds started and stopped',
      'none',
      [
        [`sum(increase(${of('gatehouse_kinds_started_total')}[1h]))`, 'started'],
        [sumBy('reason', `increase(${of('gatehouse_kinds_stopped_total')}[1h])`), 'stopped: {{reason}}'],
        [sumBy('reason', `increase(${of('gatehouse_kinds_refused_total')}[1h])`), 'refused: {{reason}}'],
      ],
      'In the last hour. Each start is a whole list at the cluster: if a kind starts again and again, raise kinds.idle.',
    ),
  ],
};

/** Without data unless `accounts.enabled`. */
export const ACCOUNTS_ROW: Row = {
  title: 'Accounts (accounts.enabled)',
  panels: [
    lines(
      'Users with a fault',
      'none',
      [
        [`max(${of('gatehouse_users_refused')})`, 'ignored'],
        [`max(${of('gatehouse_user_emails_shared')})`, 'e-mails of two users'],
        [`max(${of('gatehouse_user_objects_faulty')})`, 'with something unusable'],
        [`max(${of('gatehouse_platform_role_conflicts')})`, 'with two platform roles'],
      ],
      'The log names each of them.',
    ),
    lines(
      'Login records',
      'ops',
      [[sumBy('result', rate('gatehouse_login_records_total')), '{{result}}']],
      'GatehouseLoginRecordsDropped fires when records are lost.',
    ),
  ],
};
