import { ACCOUNTS_ROW, GATEWAY_ROW, LOGS_ROW } from './optional-panels.ts';
import { figure, lines, of, quantile, type Row, rate, sumBy } from './panel.ts';

const PROBES = 'route!~"/(live|ready|health)z.*|/metrics"';

export const ROWS: readonly Row[] = [
  {
    title: 'Overview',
    panels: [
      figure('Pods that answer', 'none', `sum(${of('up')})`, 'Pods that Prometheus could scrape.'),
      figure(
        'Requests',
        'reqps',
        `sum(${rate('gatehouse_http_requests_total', PROBES)})`,
        'Without probes and scrapes.',
      ),
      figure(
        'Answers 5xx',
        'percentunit',
        `(sum(${rate('gatehouse_http_requests_total', PROBES, 'code=~"5.."')}) or vector(0)) / sum(${rate('gatehouse_http_requests_total', PROBES)})`,
        'The share of requests that Gatehouse failed. GatehouseServerErrors fires above 1 %.',
      ),
      figure(
        'Latency, 99 %',
        's',
        quantile(0.99, '', 'gatehouse_http_request_duration_seconds', PROBES),
        'Time to the last byte, of a stream to the first.',
      ),
      figure(
        'Oldest data',
        's',
        `max(${of('gatehouse_cache_staleness_seconds')})`,
        'Seconds since the last proof that all data is current. Healthy: at most 75 s. GatehouseDataStale fires above 120 s.',
      ),
      figure(
        'Checks that fail',
        'none',
        `count(${of('gatehouse_readiness_check')} == 0) or vector(0)`,
        'Checks of /readyz, all pods together; also those that do not count.',
      ),
    ],
  },
  {
    title: 'Traffic and errors',
    panels: [
      lines(
        'Requests by route',
        'reqps',
        [[sumBy('route', rate('gatehouse_http_requests_total', PROBES)), '{{route}}']],
        'Without probes and scrapes.',
      ),
      lines(
        'Answers by status',
        'reqps',
        [[sumBy('code', rate('gatehouse_http_requests_total', PROBES)), '{{code}}']],
        '401 and 403 are usual; 5xx is a fault of ours or an API server that is away.',
      ),
      lines(
        'Turned away',
        'reqps',
        [[sumBy('reason', rate('gatehouse_http_rejections_total')), '{{reason}}']],
        'Requests and connections that the parser, the guard or a limit refused.',
      ),
      lines(
        'Bytes sent',
        'Bps',
        [[sumBy('encoding', rate('gatehouse_http_response_bytes_total')), '{{encoding}}']],
        'Bodies of answers, as they cross the network.',
      ),
      lines(
        'Load',
        'none',
        [
          [sumBy('class', of('gatehouse_http_requests_in_flight')), 'in flight: {{class}}'],
          [`sum(${of('gatehouse_http_connections')})`, 'connections'],
        ],
        'Requests whose answers are being made, and open connections.',
      ),
      lines(
        'Waiting for their turn',
        'none',
        [[of('gatehouse_http_requests_waiting'), '{{pod}}']],
        'Requests of users who ask for more than their share while the pod is busy; they are not among those in flight.',
      ),
    ],
  },
  {
    title: 'Latency',
    panels: [
      lines(
        'Latency by route, median',
        's',
        [[quantile(0.5, 'route', 'gatehouse_http_request_duration_seconds', PROBES), '{{route}}']],
        'Time to the last byte, of a stream to the first.',
      ),
      lines(
        'Latency by route, 99 %',
        's',
        [[quantile(0.99, 'route', 'gatehouse_http_request_duration_seconds', PROBES), '{{route}}']],
        'The same, of the slowest request in a hundred.',
      ),
      lines(
        'Waiting inside',
        's',
        [
          [quantile(0.99, 'pod', 'gatehouse_threadpool_delay_seconds'), 'thread pool {{pod}}'],
          [of('nodejs_eventloop_lag_p99_seconds'), 'event loop {{pod}}'],
        ],
        'How long work waits for the thread pool and the event loop. Above 0.1 s: too little CPU.',
      ),
    ],
  },
  {
    title: 'Cache',
    panels: [
      lines(
        'Age of the data',
        's',
        [[`max by (resource) (${of('gatehouse_cache_staleness_seconds')})`, '{{resource}}']],
        'Seconds since the last proof of being current, of the worst pod.',
      ),
      lines(
        'Objects',
        'none',
        [[`max by (resource) (${of('gatehouse_cache_objects')})`, '{{resource}}']],
        'Objects in memory.',
      ),
      lines(
        'Encoded objects',
        'bytes',
        [[sumBy('resource, pod', of('gatehouse_cache_bytes')), '{{resource}} {{pod}}']],
        'Bytes of encoded and compressed objects, outside the heap.',
      ),
      lines(
        'Comparisons with the cluster',
        'none',
        [
          [
            sumBy('resource, result', `increase(${of('gatehouse_cache_self_checks_total')}[1h])`),
            '{{resource}}: {{result}}',
          ],
        ],
        'In the last hour. A mismatch is repaired at once, and should not occur.',
      ),
    ],
  },
  {
    title: 'Reflector and API server',
    panels: [
      lines(
        'Reflectors by state',
        'none',
        [[sumBy('state', of('gatehouse_reflector_state')), '{{state}}']],
        'All should be watching.',
      ),
      lines(
        'Watch events',
        'ops',
        [[sumBy('resource, type', rate('gatehouse_reflector_watch_events_total')), '{{resource}}: {{type}}']],
        'What the cluster tells.',
      ),
      lines(
        'Ends of watches',
        'ops',
        [[sumBy('end', rate('gatehouse_reflector_watches_total')), '{{end}}']],
        'closed: usual, each takes 5 to 10 minutes. refused and reset: look at the API server.',
      ),
      lines(
        'Lists',
        'none',
        [
          [
            sumBy('resource, reason', `increase(${of('gatehouse_reflector_relists_total')}[1h])`),
            '{{resource}}: {{reason}}',
          ],
        ],
        'Lists after the first in the last hour, by reason.',
      ),
      lines(
        'Calls to the API server',
        'reqps',
        [[sumBy('purpose, code', rate('gatehouse_cluster_requests_total')), '{{purpose}} {{code}}']],
        'error: no answer.',
      ),
      lines(
        'Answers of the API server, 99 %',
        's',
        [[quantile(0.99, 'purpose', 'gatehouse_cluster_request_duration_seconds'), '{{purpose}}']],
        'Time to the headers of its answer.',
      ),
    ],
  },
  {
    title: 'Sign-ins and throttle',
    panels: [
      lines(
        'Token requests',
        'reqps',
        [[sumBy('grant_type, result', rate('gatehouse_token_requests_total')), '{{grant_type}}: {{result}}']],
        'password with invalid_grant: a sign-in that failed.',
      ),
      lines(
        'Sign-ins turned away',
        'reqps',
        [
          [sumBy('bucket', rate('gatehouse_login_throttled_total')), 'throttled: {{bucket}}'],
          [`sum(${rate('gatehouse_password_hash_rejections_total')})`, 'queue full'],
        ],
        'By earlier failures of a user or an address, or because too many came at once.',
      ),
      lines(
        'Password compares',
        'none',
        [
          [`sum(${of('gatehouse_password_hash_queue_length')})`, 'waiting'],
          [`sum(${of('gatehouse_password_hashes_in_flight')})`, 'in flight'],
        ],
        'Two run at a time in each pod.',
      ),
      lines(
        'Time of password compares, 99 %',
        's',
        [
          [quantile(0.99, '', 'gatehouse_password_hash_queue_wait_seconds'), 'wait'],
          [quantile(0.99, '', 'gatehouse_password_hash_duration_seconds'), 'compare'],
        ],
        'A sign-in waits 2 s at most.',
      ),
      lines(
        'Clients refused',
        'reqps',
        [[sumBy('reason', rate('gatehouse_client_authentication_failures_total')), '{{reason}}']],
        'Applications and webhook callers.',
      ),
      lines(
        'Users by password hash',
        'none',
        [[`max by (password_hash) (${of('gatehouse_users')})`, '{{password_hash}}']],
        'other_cost and unfit have to be made again.',
      ),
    ],
  },
  {
    title: 'Sessions and tokens',
    panels: [
      lines(
        'Bearers',
        'reqps',
        [[sumBy('result', rate('gatehouse_token_verifications_total')), '{{result}}']],
        'not_yet_valid: clocks differ.',
      ),
      lines(
        'Ended sessions',
        'ops',
        [
          [sumBy('scope', rate('gatehouse_token_revocations_total')), '{{scope}}'],
          [`sum(${rate('gatehouse_refresh_reuse_total')})`, 'refresh token came again'],
        ],
        'user: all sessions of a user at once.',
      ),
      lines(
        'Session records',
        's',
        [[quantile(0.99, '', 'gatehouse_session_record_lag_seconds'), '99 %']],
        'Until the other replicas know that a session was ended; with sessions.store: kubernetes only.',
      ),
      lines(
        'Questions about tokens',
        'reqps',
        [
          [sumBy('result', rate('gatehouse_token_reviews_total')), 'review: {{result}}'],
          [sumBy('result', rate('gatehouse_introspection_requests_total')), 'introspection: {{result}}'],
          [sumBy('result', rate('gatehouse_revocation_requests_total')), 'revocation: {{result}}'],
        ],
        'By API servers (TokenReview) and applications.',
      ),
      lines(
        'Security events',
        'ops',
        [[sumBy('event', rate('gatehouse_security_events_total')), '{{event}}']],
        'Lines of the audit trail.',
      ),
    ],
  },
  {
    title: 'Access',
    panels: [
      lines(
        'Decisions',
        'reqps',
        [[sumBy('decision, source', rate('gatehouse_authorization_decisions_total')), '{{decision}} by {{source}}']],
        'error by review: the cluster gives no answer. error by overload: a caller asks too much.',
      ),
      lines(
        'Access reviews, 99 %',
        's',
        [[quantile(0.99, '', 'gatehouse_authorization_review_duration_seconds'), 'one review']],
        'A review is given up after 3 s.',
      ),
      lines(
        'Reviews and remembered answers',
        'none',
        [
          [sumBy('state', of('gatehouse_authorization_reviews')), '{{state}}'],
          [`sum(${of('gatehouse_authorization_cache_entries')})`, 'remembered'],
          [sumBy('origin', of('gatehouse_authorization_recent_questions')), 'kept for an outage, {{origin}}'],
        ],
        'All pods together.',
      ),
    ],
  },
  {
    title: 'Keys and certificates',
    panels: [
      lines(
        'Signing keys',
        'none',
        [[`max by (state) (count by (pod, state) (${of('gatehouse_signing_key_info')}))`, '{{state}}']],
        'One is active, at most one is next.',
      ),
      lines(
        'Next rotation',
        's',
        [[`min(${of('gatehouse_signing_key_rotation_due_seconds')})`, 'due in']],
        'Negative: overdue. No value: only an operator rotates.',
      ),
      lines(
        'Keys of the cluster',
        'none',
        [[`min(${of('gatehouse_service_account_keys')})`, 'keys']],
        'For tokens of service accounts, when they are let in. 0: they were never read.',
      ),
      lines(
        'Serving certificate',
        's',
        [
          [
            `min by (pod) (${of('gatehouse_tls_certificate_expiration_timestamp_seconds', 'server="api"')}) - time()`,
            'expires in, {{pod}}',
          ],
        ],
        'With TLS only. GatehouseCertificateExpiresSoon fires below 14 days.',
      ),
    ],
  },
  {
    title: 'Watchers',
    panels: [
      lines(
        'Open watches',
        'none',
        [[sumBy('pod', of('gatehouse_watches')), '{{pod}}']],
        'limits.maxWatches bounds them.',
      ),
      lines(
        'Ends of watches',
        'ops',
        [[sumBy('end', rate('gatehouse_watches_ended_total')), '{{end}}']],
        'client, timeout and stopping are usual.',
      ),
      lines(
        'Until all watchers know, 99 %',
        's',
        [[quantile(0.99, 'pod', 'gatehouse_watch_fanout_seconds'), '{{pod}}']],
        'Above a second: too little CPU, or too many watches for a pod.',
      ),
    ],
  },
  GATEWAY_ROW,
  LOGS_ROW,
  ACCOUNTS_ROW,
  {
    title: 'Memory and process',
    panels: [
      lines(
        'Memory',
        'bytes',
        [
          [of('process_resident_memory_bytes'), '{{pod}}'],
          [`max(${of('gatehouse_memory_limit_bytes')})`, 'limit'],
        ],
        'GatehouseMemoryHigh fires above 85 % of the limit.',
      ),
      lines(
        'Heap',
        'bytes',
        [
          [of('nodejs_heap_size_used_bytes'), 'heap {{pod}}'],
          [of('nodejs_external_memory_bytes'), 'outside {{pod}}'],
        ],
        'The heap is limited to 60 % of the memory limit.',
      ),
      lines('CPU', 'none', [[sumBy('pod', rate('process_cpu_seconds_total')), '{{pod}}']], 'Cores in use.'),
      lines('File descriptors', 'none', [[of('process_open_fds'), '{{pod}}']], 'One for each connection.'),
      lines(
        'Log lines dropped',
        'ops',
        [[sumBy('pod, trail', rate('gatehouse_log_lines_dropped_total')), '{{trail}} {{pod}}']],
        'Because nobody read the standard output.',
      ),
    ],
  },
];
