/** The periodic tasks of a node, by the names under which their failures are counted. */
export const backgroundTasks = [
  "assistant_reports",
  "commands",
  "compaction",
  "confirmation_times",
  "fan_requests",
  "feed_lease",
  "feed_messages",
  "grant_use",
  "heartbeat",
  "hourly_counts",
  "idempotency_keys",
  "link_hours",
  "link_sessions",
  "link_shares",
  "log_retention",
  "node_questions",
  "own_commands",
  "own_things",
  "erased_names",
  "quotas",
  "revocations",
  "sweep",
] as const;

export type BackgroundTaskName = (typeof backgroundTasks)[number];
