import type { Attack } from "./attack.ts";
import { attributes } from "./attacks/attributes.ts";
import { bodies } from "./attacks/bodies.ts";
import { connections } from "./attacks/connections.ts";
import { costlyPatterns } from "./attacks/costly-patterns.ts";
import { fans } from "./attacks/fans.ts";
import { hostileLink } from "./attacks/hostile-ecosystem.ts";
import { largeAlerts } from "./attacks/large-alerts.ts";
import { nameServers } from "./attacks/name-servers.ts";
import { pipelinedStreams } from "./attacks/pipelined-streams.ts";
import { pipelining } from "./attacks/pipelining.ts";
import { platformLists } from "./attacks/platform-lists.ts";
import { questions } from "./attacks/questions.ts";
import { quotas } from "./attacks/quotas.ts";
import { receivers } from "./attacks/receivers.ts";
import { signIns } from "./attacks/sign-ins.ts";
import { tokens } from "./attacks/tokens.ts";
import { unreadStreams } from "./attacks/unread-streams.ts";
import { webhookFilters } from "./attacks/webhook-filters.ts";

export const attacks: readonly Attack[] = [
  pipelining,
  connections,
  attributes,
  largeAlerts,
  webhookFilters,
  nameServers,
  receivers,
  signIns,
  platformLists,
  unreadStreams,
  pipelinedStreams,
  questions,
  costlyPatterns,
  tokens,
  bodies,
  fans,
  quotas,
  hostileLink,
];
