/** When an alarm fires, and a case close to it in which it stays quiet. */
export interface AlarmCase {
  /** Figures by name and labels. One value a minute, as promtool writes them: `0x85 1x5` is 0 for 85 minutes, then 1. */
  readonly fires: Readonly<Record<string, string>>;
  readonly quiet: Readonly<Record<string, string>>;
  /** The labels of the alarm beside its name and severity. */
  readonly labels: string;
  /** It is looked at after 28 hours; all others after 88 minutes. */
  readonly isSlow?: boolean;
}

const always = (value: number) => `${value}x2000`;
/** From the 80th minute on. */
const late = (before: number, after: number) => `${before}x79 ${after}x2000`;
/** For the last two minutes before 88. */
const justNow = (before: number, after: number) => `${before}x85 ${after}x20`;
/** In all but one minute. */
const butOnce = (value: number, once: number) => `${value}x83 ${once} ${value}x100`;
const node = 'instance="a"';

export const alarmCases: Readonly<Record<string, AlarmCase>> = {
  BreezewayDown: {
    fires: { [`up{job="breezeway",${node}}`]: late(1, 0), 'up{job="breezeway",instance="b"}': always(1) },
    quiet: { [`up{job="breezeway",${node}}`]: always(1), 'up{job="other",instance="b"}': always(0) },
    labels: `job="breezeway", ${node}`,
  },
  BreezewayStoreDown: {
    fires: { [`breezeway_store_up{${node}}`]: late(1, 0) },
    quiet: { [`breezeway_store_up{${node}}`]: always(1) },
    labels: node,
  },
  BreezewayInternalErrors: {
    fires: { [`breezeway_internal_errors_total{${node},where="v3"}`]: justNow(0, 1) },
    // Mistyped passwords are HTTP 500 on the platform's calls.
    quiet: {
      [`breezeway_internal_errors_total{${node},where="platform"}`]: always(0),
      [`breezeway_platform_faults_total{${node},fault="101"}`]: "0+5x2000",
      [`breezeway_http_requests_total{${node},status="500"}`]: "0+5x2000",
    },
    labels: `${node}, where="v3"`,
  },
  BreezewayLinkFaults: {
    fires: { [`breezeway_link_faults_total{${node},kind="snapshot"}`]: justNow(3, 4) },
    quiet: { [`breezeway_link_faults_total{${node},kind="token"}`]: justNow(3, 4) },
    labels: `${node}, kind="snapshot"`,
  },
  BreezewayLinksPausedByErrors: {
    fires: { [`breezeway_links_paused{${node},cause="error"}`]: late(0, 1) },
    quiet: { [`breezeway_links_paused{${node},cause="error"}`]: justNow(0, 1) },
    labels: `${node}, cause="error"`,
  },
  BreezewayLinksPausedByKey: {
    fires: { [`breezeway_links_paused{${node},cause="token"}`]: justNow(0, 1) },
    quiet: { [`breezeway_links_paused{${node},cause="error"}`]: justNow(0, 1) },
    labels: `${node}, cause="token"`,
  },
  BreezewayLinksStale: {
    fires: { [`breezeway_links_stale{${node}}`]: always(2) },
    quiet: { [`breezeway_links_stale{${node}}`]: late(0, 2) },
    labels: node,
  },
  BreezewayLinksBlind: {
    // 100 links on two nodes: 400 blind seconds a minute are a fifteenth of the time.
    fires: {
      [`breezeway_blind_seconds_total{${node}}`]: "0+400x2000",
      [`breezeway_links{${node},state="live"}`]: always(40),
      'breezeway_links{instance="b",state="live"}': always(60),
    },
    quiet: {
      [`breezeway_blind_seconds_total{${node}}`]: "0+200x2000",
      [`breezeway_links{${node},state="live"}`]: always(100),
    },
    labels: "",
  },
  BreezewayLinksNeedNewTokens: {
    fires: { [`breezeway_link_changes_total{${node},state="needs_reauth"}`]: justNow(0, 20) },
    quiet: {
      [`breezeway_link_changes_total{${node},state="needs_reauth"}`]: justNow(0, 5),
      [`breezeway_link_changes_total{${node},state="waiting"}`]: justNow(0, 500),
    },
    labels: "",
  },
  BreezewayFansUnanswered: {
    fires: { [`breezeway_fan_requests_total{${node},state="expired"}`]: justNow(0, 8) },
    quiet: { [`breezeway_fan_requests_total{${node},state="rejected"}`]: justNow(0, 8) },
    labels: "",
  },
  BreezewayCommandsUnanswered: {
    fires: { [`breezeway_commands_total{${node},state="expired"}`]: justNow(0, 8) },
    quiet: { [`breezeway_commands_total{${node},state="rejected"}`]: justNow(0, 8) },
    labels: "",
  },
  BreezewayEventsHeldBack: {
    // Both nodes show the same figure: one alarm.
    fires: {
      [`breezeway_events_held_back_seconds{${node}}`]: late(0, 30),
      'breezeway_events_held_back_seconds{instance="b"}': late(0, 30),
    },
    quiet: {
      [`breezeway_events_held_back_seconds{${node}}`]: late(0, 8),
      'breezeway_events_held_back_seconds{instance="b"}': butOnce(0, 30),
    },
    labels: "",
  },
  BreezewayWebhooksLate: {
    // Both nodes show the same figure: one alarm.
    fires: {
      [`breezeway_webhook_lag_seconds{${node}}`]: late(0, 90),
      'breezeway_webhook_lag_seconds{instance="b"}': late(0, 90),
    },
    quiet: {
      [`breezeway_webhook_lag_seconds{${node}}`]: late(0, 40),
      'breezeway_webhook_lag_seconds{instance="b"}': late(0, 40),
    },
    labels: "",
  },
  BreezewayBackgroundFailures: {
    fires: {
      [`breezeway_background_failures_total{${node},task="sweep"}`]: "0+1x2000",
      [`breezeway_store_up{${node}}`]: always(1),
    },
    // While the store is down, that is the alarm.
    quiet: {
      [`breezeway_background_failures_total{${node},task="sweep"}`]: "0+1x2000",
      [`breezeway_store_up{${node}}`]: always(0),
    },
    labels: `${node}, task="sweep"`,
  },
  BreezewayStoreBusy: {
    fires: { [`breezeway_store_waiting{${node}}`]: always(3) },
    quiet: { [`breezeway_store_waiting{${node}}`]: butOnce(30, 0) },
    labels: node,
  },
  BreezewayConnectionsExhausted: {
    fires: { [`breezeway_store_connections_waiting{${node},pool="ordinary"}`]: late(0, 3) },
    quiet: { [`breezeway_store_connections_waiting{${node},pool="ordinary"}`]: butOnce(3, 0) },
    labels: `${node}, pool="ordinary"`,
  },
  BreezewayEventLoopSlow: {
    fires: { [`breezeway_event_loop_delay_seconds{${node},quantile="0.99"}`]: always(0.2) },
    quiet: {
      [`breezeway_event_loop_delay_seconds{${node},quantile="0.99"}`]: butOnce(0.05, 0.2),
      [`breezeway_event_loop_delay_seconds{${node},quantile="1"}`]: always(0.2),
    },
    labels: `${node}, quantile="0.99"`,
  },
  BreezewayDiskFillsUp: {
    fires: {
      [`breezeway_data_free_bytes{${node}}`]: always(90),
      [`breezeway_data_size_bytes{${node}}`]: always(1000),
    },
    quiet: {
      [`breezeway_data_free_bytes{${node}}`]: always(110),
      [`breezeway_data_size_bytes{${node}}`]: always(1000),
    },
    labels: node,
  },
  BreezewayCertificateExpires: {
    fires: { [`breezeway_tls_certificate_expiry_timestamp_seconds{${node}}`]: always(13 * 86_400) },
    quiet: { [`breezeway_tls_certificate_expiry_timestamp_seconds{${node}}`]: always(15 * 86_400) },
    labels: node,
  },
  BreezewayCertificateRefused: {
    fires: { [`breezeway_tls_certificate_refused{${node}}`]: always(1) },
    quiet: { [`breezeway_tls_certificate_refused{${node}}`]: always(0) },
    labels: node,
  },
  BreezewayBackupMissing: {
    fires: {
      [`breezeway_last_backup_timestamp_seconds{${node}}`]: always(0),
      'breezeway_last_backup_timestamp_seconds{instance="b"}': always(0),
    },
    quiet: { [`breezeway_last_backup_timestamp_seconds{${node}}`]: always(10 * 3_600) },
    labels: "",
    isSlow: true,
  },
};
