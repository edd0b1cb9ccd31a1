/**
 * Bounds on everything that a caller can grow. docs/limits.md explains each of them. A refusal names its limit
 * (`LimitReached`), and `breezeway_limit_reached_total` counts refusals by that name.
 */
export const limits = {
  /** Names of one device, including those of erased attributes. Virtual devices have their own fixed set. */
  attributesPerDevice: 1_000,
  /** Bytes of names and values over all devices of a user that are not virtual. */
  attributeBytesPerUser: 8_388_608,
  devicesPerUser: 10_000,
  devicesPerTenant: 1_000_000,
  /** Ids in one answer of `GET /v3/users`. */
  usersPerAnswer: 100_000,
  /** Device types of one tenant that have a trait map, and bytes of one map as JSON. */
  traitMapsPerTenant: 200,
  traitMapBytes: 16_384,
  /** Device types that the clients of one tenant were the first to name. */
  deviceTypesPerTenant: 1_000,
  /** Lines of a batch that is carried out in one transaction, and devices in one request for states. */
  linesAtOnce: 1_000,
  /** First values of all devices of a batch that is carried out in one transaction. */
  attributesAtOnce: 10_000,
  batchLineBytes: 65_536,
  /** The body of a batch that is carried out in one transaction or of a request for states, and of any other batch. */
  bytesAtOnce: 4_194_304,
  batchBytes: 268_435_456,
  batchSeconds: 3_600,
  /** Batches on one node: of one tenant, and of all tenants. */
  batchesPerTenant: 1,
  batchesPerNode: 8,
  /** Requests of one tenant that wait on one node for another one of `linesAtOnce` lines. */
  batchesWaiting: 20,
  /** States of one tenant, of requests for many devices, that wait on one node for costly patterns of alerts; and as many alarms. */
  costlyStatesWaiting: 30,
  /** Answers of a batch that its client has not read yet. Beyond it the batch waits for the client. */
  batchAnswerBytes: 4_194_304,
  /** Answers of batches with an idempotency key, kept for one tenant for 24 hours. */
  batchKeyBytesPerTenant: 134_217_728,
  /** Things of one linked account. Alarms come first; the link's status counts the others. */
  thingsPerLink: 500,
  alertsPerDevice: 1_000,
  alertsPerUser: 10_000,
  bytesPerAlert: 16_384,
  alertBytesPerUser: 8_388_608,
  /** For one change: how many hops alerts may trigger each other, and how much they may do. */
  alertHopsPerCause: 8,
  alertWritesPerCause: 200,
  /**
   * Commands to things that the alerts of one change send, also those that are refused: in all, and to things of linked
   * accounts. A command to an own thing is logged, one to a linked thing is a call to its ecosystem.
   */
  alertCommandsPerCause: 1_000,
  linkedCommandsPerCause: 200,
  /** Firings of one alert that send commands. Two alerts could undo each other for ever through a device's reports. */
  commandingFiringsPerMinute: 10,
  firingsPerCause: 1_000,
  firingBytesPerCause: 1_048_576,
  patternStepsPerCause: 2_000_000,
  patternCostPerCause: 250_000,
  /** Changes by clients to devices of one user that wait on one node until a thread has matched costly patterns of its alerts. */
  changesWaiting: 20,
  /** For one explanation or tried value. Costlier patterns are not evaluated. */
  patternStepsPerExplanation: 500_000,
  /** Explanations and tried values of one user, or of one tenant's enterprise clients, that wait on one node. */
  explanationsWaiting: 20,
  /** For one user, or for one tenant's enterprise clients, on one node. */
  dryRunsAtOnce: 1,
  commitsPerDryRun: 100_000,
  patternStepsPerDryRun: 20_000_000,
  requestsPerConnection: 8,
  /** Levels of arrays and objects in a body. */
  jsonDepth: 64,
  /** Commas, arrays and objects of a body together, and members of one object. */
  jsonParts: 100_000,
  jsonMembers: 10_000,
  /** Requests of one source that are handled in one turn of the event loop. */
  requestsPerTurn: 16,
  /** The same limit for a turn in which a connection was accepted. */
  requestsPerShortTurn: 2,
  /** Bodies above 64 KiB, and those of unknown length, of one tenant on one node while they arrive. */
  arrivingBytesPerTenant: 16_777_216,
  /** History reads of one user's devices that wait for a running one, on one node. */
  historiesWaiting: 20,
  parametersPerRequest: 10_000,
  /** Bytes of a request's line and headers. The names of all 519 attributes in one query take 33,541 percent-encoded. */
  requestHeadBytes: 49_152,
  /** Defaults of the settings of the same names. */
  connectionsPerSource: 2_000,
  connections: 50_000,
  /** Quotas on one node, as long as an operator has set no others (src/quotas). */
  requestsPerMinutePerClient: 600_000,
  requestsPerMinutePerTenant: 1_200_000,
  openStreamsPerClient: 20_000,
  openStreamsPerTenant: 30_000,
  commandsPerMinutePerClient: 60_000,
  commandsPerMinutePerTenant: 120_000,
  webhooksPerOwner: 20,
  /** Link sessions of the last day: of one client for one user, and of one enterprise client. */
  linkSessionsPerUser: 100,
  linkSessionsPerClient: 10_000,
  /**
   * Outgoing calls that callers cause, under way on one node: of one link session, of one user, of one tenant, and of all.
   * Where there is no user, those of one address or of one tenant's outlets count as those of a user.
   */
  outgoingCallsPerLinkSession: 1,
  outgoingCallsPerUser: 2,
  outgoingCallsPerTenant: 100,
  outgoingCallsPerNode: 400,
  /** Calls that wait for each of these bounds on one node: of one link session or user, and of all. */
  outgoingCallsWaitingPerUser: 20,
  outgoingCallsWaiting: 2_000,
  /** Idempotency keys of one user, or of one tenant's enterprise clients, in 24 hours, and the answers kept for them. */
  idempotencyKeysPerOwner: 100_000,
  idempotencyBytesPerOwner: 33_554_432,
  /** Concurrent sign-ins from one source. A source is an IPv4 address or an IPv6 network (/64). */
  signInsPerSource: 20,
  /** Passwords of all sources that wait to be hashed. */
  passwordsWaiting: 1_000,
  /**
   * Concurrent client authentications from one source. The limit is high because one address of an assistant refreshes
   * the tokens of many users.
   */
  clientAuthenticationsPerSource: 1_000,
  /** Security tokens of one user. */
  secTokensPerUser: 100,
  /** Browsers in which one user is signed in to the account page, and exports of one user's data on one node. */
  sessionsPerUser: 20,
  exportsAtOnce: 1,
  /** Rows of the list of apps on the account page: one for each app and scope. */
  appsPerAccount: 1_000,
  /** People who run the service, their signed-in browsers and API tokens, and links for new ones that nobody has used. */
  operators: 1_000,
  tenantsPerOperator: 1_000,
  sessionsPerOperator: 50,
  tokensPerOperator: 100,
  /** Open streams of the console of one operator, on one node. A browser needs one for all its tabs. */
  consoleStreamsPerOperator: 50,
  operatorLinksWaiting: 1_000,
  /** Calls and pages of one operator on one node: in progress at once, and waiting. */
  operatorCalls: 8,
  operatorCallsWaiting: 40,
  /** The same of all operators who reach the same tenants. */
  operatorCallsOfTenant: 16,
  operatorCallsOfTenantWaiting: 200,
  /** Grants that one user has given to one client. */
  grantsPerUserAndClient: 50,
  /** Refresh tokens of one grant, and access tokens of one grant. */
  tokensPerGrant: 100,
  /** Tokens that a client got with its own secret (client_credentials). */
  tokensPerClient: 1_000,
  /** Rate limit for the bytes of one account's stream: average and burst. */
  streamBytesPerSecond: 1_048_576,
  streamBytesAtOnce: 4_194_304,
  /**
   * JSON from outside clouds (runtime/json/untrusted-json.ts): bytes, levels of arrays and objects, and commas, arrays
   * and objects together. First of a handshake, a token or a refusal.
   */
  untrustedJsonHandshakeBytes: 65_536,
  untrustedJsonHandshakeDepth: 16,
  untrustedJsonHandshakeValues: 2_000,
  /** An ordinary message or answer, and the depth of a large one. */
  untrustedJsonMessageBytes: 262_144,
  untrustedJsonMessageValues: 20_000,
  untrustedJsonDepth: 32,
  /** A large message or answer, which a thread reads; and the bytes that wait for the thread. */
  untrustedJsonLargeBytes: 16_777_216,
  untrustedJsonLargeValues: 500_000,
  untrustedJsonWaitingBytes: 134_217_728,
  /** Messages and answers above 64 KB that have not arrived completely, all on one node together. */
  unfinishedMessageBytes: 268_435_456,
  /** Calls on the stream of an account that the other side has not read yet. */
  unsentCallBytes: 1_048_576,
  /** CPU time of one account's stream: average and burst. */
  linkCpuMsPerSecond: 150,
  linkCpuMsAtOnce: 1_500,
  /** States of the entities of one home in memory. */
  homeStateBytes: 4_194_304,
  /** One event of a stream, and one message of a session that awaits no large answer. */
  streamMessageBytes: 2_097_152,
  /** Messages of a feed of the whole deployment that wait in the store for one link. */
  feedMessagesPerLink: 1_000,
  filterDevices: 100,
  filterNames: 600,
  filterThings: 100,
  webhookSends: 100,
  webhookSendsUrgent: 20,
  webhookSendsPerTenant: 50,
  webhookSendsPerReceiver: 50,
  webhookSendsPerReceiverAndTenant: 25,
  webhookSendsPerOwner: 20,
  webhookSendsPerWebhook: 5,
  webhookMessagesWaiting: 10_000,
  webhookBytesWaiting: 16_777_216,
  webhookMessagesKept: 1_000,
  /** Outlets to assistants of one tenant. */
  outletsPerTenant: 20,
  /** Users whose assistants one node reports to at once: in all, and of one outlet; and the reserve of emergencies. */
  assistantSends: 50,
  assistantSendsPerOutlet: 25,
  assistantSendsUrgent: 10,
} as const;

export type LimitName = keyof typeof limits;

/** Called each time that a limit was reached, so that metrics can count it. */
export type OnLimitReached = (limit: LimitName) => void;
