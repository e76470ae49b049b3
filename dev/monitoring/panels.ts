import { ACCOUNTS_ROW, GATEWAY_ROW, KINDS_ROW, LOGS_ROW } from './optional-panels.ts';
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
        'The share of requests with a 5xx answer. GatehouseServerErrors fires above 1 %.',
      ),
      figure(
        'Latency, 99 %',
        's',
        quantile(0.99, '', 'gatehouse_http_request_duration_seconds', PROBES),
        'Time to the last byte; for a stream, to the first.',
      ),
      figure(
        'Oldest data',
        's',
        `max(${of('gatehouse_cache_staleness_seconds')})`,
        'Seconds since all data was last known to be current. Healthy: at most 75 s. GatehouseDataStale fires above 120 s.',
      ),
      figure(
        'Checks that fail',
        'none',
        `count(${of('gatehouse_readiness_check')} == 0) or vector(0)`,
        'Checks of /readyz, all pods together, including checks that do not count.',
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
        '401 and 403 are normal; 5xx means a fault of Gatehouse, or an API server that is away.',
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
        'Bodies of answers, as sent over the network.',
      ),
      lines(
        'Load',
        'none',
        [
          [sumBy('class', of('gatehouse_http_requests_in_flight')), 'in flight: {{class}}'],
          [`sum(${of('gatehouse_http_connections')})`, 'connections'],
        ],
        'Requests in progress, and open connections.',
      ),
      lines(
        'Waiting for their turn',
        'none',
        [[of('gatehouse_http_requests_waiting'), '{{pod}}']],
        'Requests of users who send more than their share while the pod is busy; they do not count as in flight.',
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
        'Time to the last byte; for a stream, to the first.',
      ),
      lines(
        'Latency by route, 99 %',
        's',
        [[quantile(0.99, 'route', 'gatehouse_http_request_duration_seconds', PROBES), '{{route}}']],
        'The same for the slowest request in a hundred.',
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
        'Seconds since the data was last known to be current, in the worst pod.',
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
        'Comparisons in the last hour. A mismatch is repaired at once, and should not occur.',
      ),
    ],
  },
  KINDS_ROW,
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
        'Events that the watches of the cluster delivered.',
      ),
      lines(
        'Ends of watches',
        'ops',
        [[sumBy('end', rate('gatehouse_reflector_watches_total')), '{{end}}']],
        'closed is normal: each watch takes 5 to 10 minutes. For refused and reset, look at the API server.',
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
        'error means no answer.',
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
        'Sign-ins by way',
        'ops',
        [[sumBy('by, result', rate('gatehouse_sign_ins_total')), '{{by}}: {{result}}']],
        'page and password_grant: a password was checked. session: a browser that was signed in got to another client.',
      ),
      lines(
        'Codes and sign-outs',
        'ops',
        [[sumBy('event', rate('gatehouse_security_events_total', 'event=~"code_.*|sign_out"')), '{{event}}']],
        'Authorization codes that were issued and redeemed, and sign-outs. GatehouseCodeReused fires at the first code_reused.',
      ),
      lines(
        'Token requests',
        'reqps',
        [[sumBy('grant_type, result', rate('gatehouse_token_requests_total')), '{{grant_type}}: {{result}}']],
        'Results other than ok are those of the OAuth error.',
      ),
      lines(
        'Sign-ins turned away',
        'reqps',
        [
          [sumBy('bucket', rate('gatehouse_login_throttled_total')), 'throttled: {{bucket}}'],
          [`sum(${rate('gatehouse_password_hash_rejections_total')})`, 'queue full'],
        ],
        'Rejected because of earlier failures of a user or an address, or because too many came at once.',
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
        'Hashes of the kinds other_cost and unfit have to be made again.',
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
        'not_yet_valid means that clocks differ.',
      ),
      lines(
        'Ended sessions',
        'ops',
        [
          [sumBy('scope', rate('gatehouse_token_revocations_total')), '{{scope}}'],
          [`sum(${rate('gatehouse_refresh_reuse_total')})`, 'refresh token came again'],
        ],
        'user means all sessions of a user at once.',
      ),
      lines(
        'Session records',
        's',
        [[quantile(0.99, '', 'gatehouse_session_record_lag_seconds'), '99 %']],
        'Time until the other replicas know that a session has ended; only with sessions.store: kubernetes.',
      ),
      lines(
        'Questions about tokens',
        'reqps',
        [
          [sumBy('result', rate('gatehouse_token_reviews_total')), 'review: {{result}}'],
          [sumBy('result', rate('gatehouse_introspection_requests_total')), 'introspection: {{result}}'],
          [sumBy('result', rate('gatehouse_revocation_requests_total')), 'revocation: {{result}}'],
          [sumBy('result', rate('gatehouse_device_authorizations_total')), 'device code: {{result}}'],
        ],
        'TokenReviews of API servers, introspection by applications, and devices that ask for a code.',
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
        'error by review: the cluster does not answer. error by overload: a caller needs too many reviews.',
      ),
      lines(
        'Access reviews, 99 %',
        's',
        [[quantile(0.99, '', 'gatehouse_authorization_review_duration_seconds'), 'one review']],
        'Gatehouse gives a review up after 3 s.',
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
        'One key is active, at most one is next.',
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
        'Keys for tokens of service accounts, if these may call. 0 means that Gatehouse could never read them.',
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
        'Lines that were dropped because nothing read the standard output.',
      ),
    ],
  },
];
