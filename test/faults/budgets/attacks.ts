import type { Attack } from "./attack.ts";
import { assistantAnswers } from "./attacks/assistant-answers.ts";
import { attributes } from "./attacks/attributes.ts";
import { bodies } from "./attacks/bodies.ts";
import { busyLights } from "./attacks/busy-lights.ts";
import { connections } from "./attacks/connections.ts";
import { costlyPatterns } from "./attacks/costly-patterns.ts";
import { fans } from "./attacks/fans.ts";
import { googleFeed, googleLists } from "./attacks/google-messages.ts";
import { homeAssistantAnswers } from "./attacks/home-assistant-answers.ts";
import { homeAssistantGreetings } from "./attacks/home-assistant-greetings.ts";
import { homeAssistantMessages, homeAssistantTokens } from "./attacks/home-assistant-messages.ts";
import { hostileLink } from "./attacks/hostile-ecosystem.ts";
import { largeAlerts } from "./attacks/large-alerts.ts";
import { linkPages } from "./attacks/link-pages.ts";
import { nameServers } from "./attacks/name-servers.ts";
import { nestReads, nestStreams } from "./attacks/nest-messages.ts";
import { openIdAnswers } from "./attacks/openid-answers.ts";
import { pipelinedStreams } from "./attacks/pipelined-streams.ts";
import { pipelining } from "./attacks/pipelining.ts";
import { platformLists } from "./attacks/platform-lists.ts";
import { questions } from "./attacks/questions.ts";
import { quotas } from "./attacks/quotas.ts";
import { receiverAnswers } from "./attacks/receiver-answers.ts";
import { receivers } from "./attacks/receivers.ts";
import { administratorsSearches } from "./attacks/searches.ts";
import { signIns } from "./attacks/sign-ins.ts";
import { tokens } from "./attacks/tokens.ts";
import { unreadStreams } from "./attacks/unread-streams.ts";
import { unwantedEntities } from "./attacks/unwanted-entities.ts";
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
  // Messages of outside clouds.
  homeAssistantGreetings,
  homeAssistantAnswers,
  homeAssistantMessages,
  homeAssistantTokens,
  busyLights,
  unwantedEntities,
  nestStreams,
  nestReads,
  googleFeed,
  googleLists,
  assistantAnswers,
  openIdAnswers,
  receiverAnswers,
  // What a caller can make the service do outside, and in the store.
  linkPages,
  administratorsSearches,
];
