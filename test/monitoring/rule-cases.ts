/** Input series of `promtool test rules`, a value each 30 s. */
interface Series {
  /** Without the labels that every scrape adds. */
  readonly name: string;
  /** Values with which the alert fires, in promtool's notation. */
  readonly fires: string;
  /** Values next to those, with which it does not. */
  readonly silent: string;
}

export interface RuleCase {
  readonly alert: string;
  readonly series: readonly Series[];
  /** The alert fires at this time. */
  readonly at: string;
  /** With the same values it does not fire yet at this time: `for` has not passed, or it has not happened. */
  readonly notYetAt: string;
  /** Labels of the firing alert besides `severity`. */
  readonly labels: Readonly<Record<string, string>>;
}

/** The labels of every scraped series. */
export const SCRAPED = { job: 'gatehouse', instance: '10.0.0.1:9091', pod: 'gatehouse-1' };

const event = (name: string): string => `gatehouse_security_events_total{event="${name}"}`;

const refusal = (reason: string): string => `gatehouse_gateway_refusals_total{reason="${reason}"}`;

const asked = (purpose: string, code: string): string =>
  `gatehouse_log_store_request_duration_seconds_count{purpose="${purpose}",code="${code}"}`;

/** One event in the sixth minute. */
const ONE_EVENT = '0x11 1x200';
const NO_EVENT = '0x200';
const EVENT_AT = { at: '7m', notYetAt: '5m' };

/** An event each half minute, and one single event. */
const GOES_ON = '0+1x60';
const ONCE = '0x5 1x60';
const AFTER_FIVE_MINUTES = { at: '8m', notYetAt: '4m' };

export const RULE_CASES: readonly RuleCase[] = [
  {
    alert: 'GatehouseAbsent',
    series: [{ name: 'up', fires: '1x3 0x60', silent: '1x60' }],
    ...{ at: '8m', notYetAt: '6m', labels: {} },
  },
  {
    alert: 'GatehouseDown',
    series: [{ name: 'up', fires: '1x3 0x60', silent: '1x60' }],
    ...{ at: '5m', notYetAt: '3m', labels: SCRAPED },
  },
  {
    alert: 'GatehouseCheckFails',
    series: [{ name: 'gatehouse_readiness_check{check="signing-key"}', fires: '1 0x60', silent: '0x8 1x60' }],
    ...{ at: '6m', notYetAt: '5m', labels: { ...SCRAPED, check: 'signing-key' } },
  },
  {
    alert: 'GatehouseServerErrors',
    series: [
      { name: 'gatehouse_http_requests_total{code="503",route="/x",method="GET"}', fires: '0+2x60', silent: '0x60' },
      {
        name: 'gatehouse_http_requests_total{code="200",route="/x",method="GET"}',
        fires: '0+98x60',
        silent: '0+98x60',
      },
      // Probes count neither as requests nor as failures, and log queries have an alert of their own.
      {
        name: 'gatehouse_http_requests_total{code="503",route="/readyz",method="GET"}',
        fires: '0x60',
        silent: '0+50x60',
      },
      {
        name: 'gatehouse_http_requests_total{code="503",route="/kapis/tenant.gatehouse.io/v1alpha2/logs",method="GET"}',
        fires: '0x60',
        silent: '0+50x60',
      },
      {
        name: 'gatehouse_http_requests_total{code="200",route="/livez",method="GET"}',
        fires: '0+900x60',
        silent: '0x60',
      },
    ],
    ...{ ...AFTER_FIVE_MINUTES, labels: {} },
  },
  {
    alert: 'GatehouseMemoryHigh',
    series: [
      { name: 'process_resident_memory_bytes', fires: '460000000x60', silent: '450000000x60' },
      { name: 'gatehouse_memory_limit_bytes', fires: '536870912x60', silent: '536870912x60' },
    ],
    ...{ at: '11m', notYetAt: '9m', labels: SCRAPED },
  },
  {
    alert: 'GatehouseLogLinesLost',
    series: [{ name: 'gatehouse_log_lines_dropped_total{trail="audit"}', fires: ONE_EVENT, silent: NO_EVENT }],
    ...{ ...EVENT_AT, labels: { pod: SCRAPED.pod, trail: 'audit' } },
  },
  {
    alert: 'GatehouseDataStale',
    // A healthy watch is proven current at least each 75 s, and a new one has 30 s to be accepted.
    series: [{ name: 'gatehouse_cache_staleness_seconds{resource="pods"}', fires: '0+30x60', silent: '0+30x3 105x60' }],
    ...{ at: '4m', notYetAt: '3m', labels: { ...SCRAPED, resource: 'pods' } },
  },
  {
    alert: 'GatehouseWatchesRefused',
    series: [
      { name: 'gatehouse_reflector_watches_total{resource="nodes",end="refused"}', fires: GOES_ON, silent: ONCE },
      { name: 'gatehouse_reflector_watches_total{resource="nodes",end="closed"}', fires: '0x60', silent: GOES_ON },
      // Gatehouse may go without the right to namespaces.
      {
        name: 'gatehouse_reflector_watches_total{resource="namespaces",end="refused"}',
        fires: '0x60',
        silent: GOES_ON,
      },
    ],
    ...{ ...AFTER_FIVE_MINUTES, labels: { ...SCRAPED, resource: 'nodes', end: 'refused' } },
  },
  {
    alert: 'GatehouseRightMissing',
    series: [
      { name: 'gatehouse_reflector_forbidden{resource="nodes"}', fires: '1x60', silent: '1x8 0x60' },
      // Gatehouse may go without the right to namespaces.
      { name: 'gatehouse_reflector_forbidden{resource="namespaces"}', fires: '0x60', silent: '1x60' },
    ],
    ...{ at: '6m', notYetAt: '4m', labels: { ...SCRAPED, resource: 'nodes' } },
  },
  {
    alert: 'GatehouseWritesRefused',
    series: [
      {
        name: 'gatehouse_cluster_requests_total{purpose="objects",code="403"}',
        fires: ONE_EVENT,
        silent: NO_EVENT,
      },
      {
        name: 'gatehouse_cluster_requests_total{purpose="objects_as_caller",code="403"}',
        fires: NO_EVENT,
        silent: ONE_EVENT,
      },
      {
        name: 'gatehouse_cluster_requests_total{purpose="objects_dry_run",code="403"}',
        fires: NO_EVENT,
        silent: ONE_EVENT,
      },
    ],
    ...{ ...EVENT_AT, labels: { ...SCRAPED, purpose: 'objects', code: '403' } },
  },
  {
    alert: 'GatehouseMissedChanges',
    series: [
      { name: 'gatehouse_reflector_relist_surprises_total{resource="pods"}', fires: ONE_EVENT, silent: NO_EVENT },
    ],
    ...{ ...EVENT_AT, labels: { ...SCRAPED, resource: 'pods' } },
  },
  {
    alert: 'GatehouseClusterRestored',
    series: [
      {
        name: 'gatehouse_reflector_relists_total{resource="nodes",reason="restored"}',
        fires: ONE_EVENT,
        silent: NO_EVENT,
      },
      {
        name: 'gatehouse_reflector_relists_total{resource="nodes",reason="expired"}',
        fires: NO_EVENT,
        silent: ONE_EVENT,
      },
    ],
    ...{ ...EVENT_AT, labels: { ...SCRAPED, resource: 'nodes', reason: 'restored' } },
  },
  {
    alert: 'GatehouseAccessReviewsFail',
    series: [
      {
        name: 'gatehouse_authorization_decisions_total{decision="error",source="review"}',
        fires: GOES_ON,
        silent: ONCE,
      },
    ],
    ...{ ...AFTER_FIVE_MINUTES, labels: { ...SCRAPED, decision: 'error', source: 'review' } },
  },
  {
    alert: 'GatehouseAccessReviewsOverloaded',
    series: [
      {
        name: 'gatehouse_authorization_decisions_total{decision="error",source="overload"}',
        fires: '0+33x60',
        silent: '0+27x60',
      },
    ],
    ...{ at: '12m', notYetAt: '9m', labels: { ...SCRAPED, decision: 'error', source: 'overload' } },
  },
  {
    alert: 'GatehouseKindRefusedForMemory',
    series: [
      { name: 'gatehouse_kinds_refused_total{reason="memory"}', fires: ONE_EVENT, silent: NO_EVENT },
      { name: 'gatehouse_kinds_refused_total{reason="forbidden"}', fires: NO_EVENT, silent: ONE_EVENT },
    ],
    ...{ ...EVENT_AT, labels: { ...SCRAPED, reason: 'memory' } },
  },
  {
    alert: 'GatehouseSigningKeysLost',
    series: [
      { name: event('signing_keys_missing'), fires: ONE_EVENT, silent: NO_EVENT },
      { name: event('signing_key_activated'), fires: NO_EVENT, silent: ONE_EVENT },
    ],
    ...{ ...EVENT_AT, labels: { ...SCRAPED, event: 'signing_keys_missing' } },
  },
  {
    alert: 'GatehouseKeyRotationOverdue',
    series: [
      { name: 'gatehouse_signing_key_rotation_due_seconds', fires: '60-30x200', silent: '60-30x120 2592000x80' },
    ],
    ...{ at: '65m', notYetAt: '60m', labels: SCRAPED },
  },
  {
    alert: 'GatehouseRevocationDataStale',
    series: [{ name: event('revocation_data_stale'), fires: ONE_EVENT, silent: NO_EVENT }],
    ...{ ...EVENT_AT, labels: { ...SCRAPED, event: 'revocation_data_stale' } },
  },
  {
    alert: 'GatehouseSignOutsLate',
    series: [
      { name: 'gatehouse_session_record_lag_seconds_bucket{le="5"}', fires: '0x60', silent: '0+1x60' },
      { name: 'gatehouse_session_record_lag_seconds_bucket{le="10"}', fires: '0+1x60', silent: '0+1x60' },
      { name: 'gatehouse_session_record_lag_seconds_bucket{le="+Inf"}', fires: '0+1x60', silent: '0+1x60' },
    ],
    ...{ ...AFTER_FIVE_MINUTES, labels: {} },
  },
  {
    alert: 'GatehouseSessionsInMemory',
    series: [
      { name: 'gatehouse_session_store_info{store="memory"}', fires: '1x60', silent: '_x60' },
      { name: 'gatehouse_session_store_info{store="kubernetes"}', fires: '_x60', silent: '1x60' },
    ],
    ...{ at: '6m', notYetAt: '4m', labels: { ...SCRAPED, store: 'memory' } },
  },
  {
    alert: 'GatehouseSessionRecordUnreadable',
    series: [{ name: event('session_record_unreadable'), fires: ONE_EVENT, silent: NO_EVENT }],
    ...{ ...EVENT_AT, labels: { ...SCRAPED, event: 'session_record_unreadable' } },
  },
  {
    alert: 'GatehouseRefreshTokenReused',
    series: [{ name: 'gatehouse_refresh_reuse_total', fires: ONE_EVENT, silent: NO_EVENT }],
    ...{ ...EVENT_AT, labels: SCRAPED },
  },
  {
    alert: 'GatehouseCodeReused',
    series: [
      { name: event('code_reused'), fires: ONE_EVENT, silent: NO_EVENT },
      { name: event('code_redeemed'), fires: NO_EVENT, silent: ONE_EVENT },
    ],
    ...{ ...EVENT_AT, labels: { ...SCRAPED, event: 'code_reused' } },
  },
  {
    alert: 'GatehouseServiceAccountKeysMissing',
    series: [{ name: 'gatehouse_service_account_keys', fires: '0x60', silent: '0x8 1x60' }],
    ...{ at: '6m', notYetAt: '4m', labels: SCRAPED },
  },
  {
    alert: 'GatehouseServiceAccountTokensOverloaded',
    series: [{ name: 'gatehouse_token_verifications_total{result="overloaded"}', fires: GOES_ON, silent: ONCE }],
    ...{ ...AFTER_FIVE_MINUTES, labels: { ...SCRAPED, result: 'overloaded' } },
  },
  {
    alert: 'GatehouseSignInFailuresMany',
    series: [{ name: event('sign_in_failures_many'), fires: ONE_EVENT, silent: NO_EVENT }],
    ...{ ...EVENT_AT, labels: { ...SCRAPED, event: 'sign_in_failures_many' } },
  },
  {
    alert: 'GatehousePasswordGuessing',
    series: [
      {
        name: 'gatehouse_sign_ins_total{by="password_grant",result="refused"}',
        fires: '0+3x200',
        silent: '0+2x200',
      },
      {
        name: 'gatehouse_sign_ins_total{by="page",result="throttled"}',
        fires: '0+2x200',
        silent: '0+2x200',
      },
      {
        name: 'gatehouse_sign_ins_total{by="page",result="ok"}',
        fires: '0x200',
        silent: '0+50x200',
      },
    ],
    ...{ at: '70m', notYetAt: '45m', labels: {} },
  },
  {
    alert: 'GatehouseSignInsThrottled',
    series: [{ name: event('sign_in_throttled'), fires: '0x11 5x60', silent: '0x11 3x60' }],
    ...{ at: '16m', notYetAt: '5m', labels: { ...SCRAPED, event: 'sign_in_throttled' } },
  },
  {
    alert: 'GatehouseSignInsRejected',
    series: [{ name: 'gatehouse_password_hash_rejections_total', fires: GOES_ON, silent: ONCE }],
    ...{ ...AFTER_FIVE_MINUTES, labels: SCRAPED },
  },
  {
    alert: 'GatehouseClientsRefused',
    series: [
      {
        name: 'gatehouse_client_authentication_failures_total{reason="wrong_secret"}',
        fires: '0x11 22x60',
        silent: '0x11 18x60',
      },
      {
        name: 'gatehouse_client_authentication_failures_total{reason="unknown_client"}',
        fires: '0x11 1x60',
        silent: '0x11 18x60',
      },
    ],
    ...{ at: '16m', notYetAt: '5m', labels: { reason: 'wrong_secret' } },
  },
  {
    alert: 'GatehousePasswordHashesUnfit',
    series: [
      { name: 'gatehouse_users{password_hash="other_cost"}', fires: '2x200', silent: '0x200' },
      { name: 'gatehouse_users{password_hash="none"}', fires: '0x200', silent: '2x200' },
    ],
    ...{ at: '61m', notYetAt: '59m', labels: { ...SCRAPED, password_hash: 'other_cost' } },
  },
  {
    alert: 'GatehouseUsersFileInvalid',
    series: [
      { name: 'gatehouse_users_file_reloads_total{result="invalid"}', fires: ONE_EVENT, silent: NO_EVENT },
      { name: 'gatehouse_users_file_reloads_total{result="ok"}', fires: NO_EVENT, silent: ONE_EVENT },
    ],
    ...{ ...EVENT_AT, labels: { ...SCRAPED, result: 'invalid' } },
  },
  {
    alert: 'GatehouseUsersInConflict',
    series: [
      { name: 'gatehouse_users_refused', fires: '0x60', silent: '0x60' },
      { name: 'gatehouse_user_emails_shared', fires: '0x3 1x60', silent: '0x3 1x7 0x60' },
      { name: 'gatehouse_user_objects_faulty', fires: '0x60', silent: '0x60' },
      { name: 'gatehouse_platform_role_conflicts', fires: '0x60', silent: '0x60' },
    ],
    ...{ at: '8m', notYetAt: '6m', labels: SCRAPED },
  },
  {
    alert: 'GatehouseLoginRecordsDropped',
    series: [
      { name: 'gatehouse_login_records_total{result="dropped"}', fires: ONE_EVENT, silent: NO_EVENT },
      { name: 'gatehouse_login_records_total{result="written"}', fires: NO_EVENT, silent: ONE_EVENT },
    ],
    ...{ ...EVENT_AT, labels: { ...SCRAPED, result: 'dropped' } },
  },
  {
    alert: 'GatehouseReservedIdentity',
    series: [
      { name: refusal('reserved_identity'), fires: ONE_EVENT, silent: NO_EVENT },
      { name: refusal('impersonate_header'), fires: NO_EVENT, silent: ONE_EVENT },
    ],
    ...{ ...EVENT_AT, labels: { ...SCRAPED, reason: 'reserved_identity' } },
  },
  {
    alert: 'GatehouseMayNotActAsUser',
    series: [
      { name: refusal('impersonation'), fires: ONE_EVENT, silent: NO_EVENT },
      { name: refusal('requests'), fires: NO_EVENT, silent: ONE_EVENT },
      { name: refusal('impersonate_header'), fires: NO_EVENT, silent: ONE_EVENT },
    ],
    ...{ ...EVENT_AT, labels: { ...SCRAPED, reason: 'impersonation' } },
  },
  {
    alert: 'GatehouseGatewayUsersKeptOut',
    series: [{ name: `gatehouse_gateway_accounts_faults{reason="room"}`, fires: '0x1 1x60', silent: '0x1 1x3 0x60' }],
    ...{ ...AFTER_FIVE_MINUTES, labels: { ...SCRAPED, reason: 'room' } },
  },
  {
    alert: 'GatehouseGatewayFails',
    series: [
      { name: refusal('away'), fires: GOES_ON, silent: ONCE },
      { name: refusal('streams_per_user'), fires: NO_EVENT, silent: GOES_ON },
    ],
    ...{ ...AFTER_FIVE_MINUTES, labels: { ...SCRAPED, reason: 'away' } },
  },
  {
    alert: 'GatehouseLogStoreFails',
    series: [
      { name: asked('search', 'none'), fires: GOES_ON, silent: GOES_ON },
      { name: asked('search', '2xx'), fires: NO_EVENT, silent: GOES_ON },
      { name: asked('detect', '2xx'), fires: GOES_ON, silent: NO_EVENT },
    ],
    ...{ at: '12m', notYetAt: '9m', labels: { pod: SCRAPED.pod } },
  },
  {
    alert: 'GatehouseLogExportsCut',
    series: [{ name: 'gatehouse_log_exports_cut_total', fires: ONE_EVENT, silent: NO_EVENT }],
    ...{ ...EVENT_AT, labels: SCRAPED },
  },
  {
    alert: 'GatehouseTLSFilesInvalid',
    series: [
      { name: 'gatehouse_tls_reloads_total{server="api",result="invalid"}', fires: ONE_EVENT, silent: NO_EVENT },
      { name: 'gatehouse_tls_reloads_total{server="api",result="ok"}', fires: NO_EVENT, silent: ONE_EVENT },
    ],
    ...{ ...EVENT_AT, labels: { ...SCRAPED, server: 'api', result: 'invalid' } },
  },
  {
    alert: 'GatehouseCertificateExpiresSoon',
    // promtool's time begins at 0, so this is an expiry in 14 days and two minutes.
    series: [
      {
        name: 'gatehouse_tls_certificate_expiration_timestamp_seconds{server="api"}',
        fires: `${14 * 86_400 + 120}x60`,
        silent: `${90 * 86_400}x60`,
      },
    ],
    ...{ at: '3m', notYetAt: '1m', labels: { ...SCRAPED, server: 'api' } },
  },
  {
    alert: 'GatehouseCertificateExpires',
    series: [
      {
        name: 'gatehouse_tls_certificate_expiration_timestamp_seconds{server="api"}',
        fires: `${2 * 86_400 + 120}x60`,
        silent: `${3 * 86_400}x60`,
      },
    ],
    ...{ at: '3m', notYetAt: '1m', labels: { ...SCRAPED, server: 'api' } },
  },
];
