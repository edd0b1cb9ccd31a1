/**
 * Bounds on everything that a caller can grow. Each one is explained in docs/limits.md. A refusal names its limit
 * (`LimitReached`), and `breezeway_limit_reached_total` counts refusals by that name.
 */
export const limits = {
  /** Names of one device, those of erased attributes included. Virtual devices have their own fixed set. */
  attributesPerDevice: 1_000,
  /** Bytes of names and values over all devices of a user that are not virtual. */
  attributeBytesPerUser: 8_388_608,
  devicesPerUser: 10_000,
  devicesPerTenant: 1_000_000,
  alertsPerDevice: 1_000,
  alertsPerUser: 10_000,
  bytesPerAlert: 16_384,
  alertBytesPerUser: 8_388_608,
  /** From one change: how far alerts set each other off, and how much they do. */
  alertHopsPerCause: 8,
  alertWritesPerCause: 200,
  firingsPerCause: 1_000,
  firingBytesPerCause: 1_048_576,
  patternStepsPerCause: 4_000_000,
  /** Of one user, or of one enterprise client's tenant, on one node. */
  dryRunsAtOnce: 1,
  commitsPerDryRun: 100_000,
  patternStepsPerDryRun: 20_000_000,
  requestsPerConnection: 8,
  /** Levels of arrays and objects in a body. */
  jsonDepth: 64,
  /** Requests of one source that are handled in one turn of the event loop. */
  requestsPerTurn: 16,
  /** The same in a turn in which a connection was accepted. */
  requestsPerShortTurn: 2,
  /** Questions about the history of a user's devices that wait for one under way, on one node. */
  historiesWaiting: 20,
  parametersPerRequest: 10_000,
  /** Bytes of a request's line and headers. The names of all 519 attributes in one query take 33,541 percent-encoded. */
  requestHeadBytes: 49_152,
  /** Defaults of the settings of the same names. */
  connectionsPerSource: 2_000,
  connections: 50_000,
  webhooksPerOwner: 20,
  /** Idempotency keys of one user, or of one tenant's enterprise clients, in 24 hours, and the answers kept for them. */
  idempotencyKeysPerOwner: 100_000,
  idempotencyBytesPerOwner: 33_554_432,
  /** Sign-ins under way from one source. A source is an IPv4 address or an IPv6 network (/64). */
  signInsPerSource: 20,
  /** Passwords of all sources together that wait to be hashed. */
  passwordsWaiting: 1_000,
  /** Client authentications under way from one source. High: one address of an assistant refreshes many users' tokens. */
  clientAuthenticationsPerSource: 1_000,
  /** Security tokens of one user. */
  secTokensPerUser: 100,
  /** Refresh tokens of one grant, and access tokens of one grant. */
  tokensPerGrant: 100,
  /** Tokens that a client took with its own secret (client_credentials). */
  tokensPerClient: 1_000,
  /** Bytes of one account's stream that are read: on average, and in a burst. */
  streamBytesPerSecond: 1_048_576,
  streamBytesAtOnce: 4_194_304,
  filterDevices: 100,
  filterNames: 600,
  webhookLookupsWaiting: 20,
  webhookSends: 100,
  webhookSendsUrgent: 20,
  webhookSendsPerTenant: 50,
  webhookSendsPerReceiver: 25,
  webhookSendsPerOwner: 20,
  webhookSendsPerWebhook: 5,
  webhookMessagesWaiting: 10_000,
  webhookBytesWaiting: 16_777_216,
  webhookMessagesKept: 1_000,
} as const;

export type LimitName = keyof typeof limits;

/** Counts that a limit was reached. */
export type ReachLimit = (limit: LimitName) => void;
