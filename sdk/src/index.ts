export type { AccessTokens } from "./access-tokens.ts";
export type { FederatedAccount, FederateOptions, LargeStrings, LinkStatus, Unlinked } from "./adaptor.ts";
export type {
  Alert,
  AlertCommand,
  AlertCommandTarget,
  AlertDefinition,
  AlertDryRun,
  AlertExplanation,
  AlertListOptions,
  AlertRule,
  AlertState,
  Alerts,
  AnyAlert,
  DryRunQuestion,
  ThingAlert,
  ThingAlertDefinition,
  ThingAlertFilter,
} from "./alerts.ts";
export { Breezeway, type BreezewayOptions } from "./breezeway.ts";
export { ClientTokens } from "./client-tokens.ts";
export type { DeviceType, DeviceTypes, TraitMap } from "./device-types.ts";
export type {
  Attribute,
  Cause,
  Command,
  Device,
  DeviceSummary,
  PastChange,
  User,
  WrittenValue,
} from "./devices.ts";
export { EcosystemClient, type EcosystemOptions, type EcosystemToken } from "./ecosystem.ts";
export * from "./errors.ts";
export type {
  AlertEvent,
  AttributeEvent,
  CommandEvent,
  DeviceEvent,
  EventOptions,
  HeartbeatEvent,
  HomeEvent,
  LinkEvent,
  LinkSessionEvent,
  ResyncEvent,
  ThingCommandEvent,
  ThingEvent,
} from "./events.ts";
export { type FanError, parseFanError } from "./fan-error.ts";
export {
  type DeviceSearch,
  type HomeDevice,
  type HomeDeviceKind,
  HomeNames,
  type HomeStructure,
} from "./home-names.ts";
export type { LinkSession, NewLinkSession, OpenLinkSession } from "./link-sessions.ts";
export { type Authorization, OAuthClient, type OAuthOptions, readCallback, type Tokens } from "./oauth.ts";
export type {
  BatchAnswer,
  DeviceChange,
  NewDevice,
  OwnDevices,
  RefusalStatus,
  RefusedDevice,
  StatesAnswer,
} from "./own-devices.ts";
export type { Login } from "./platform.ts";
export type { CommandArguments, CommandOptions } from "./run-command.ts";
export type { FanOutcome, RunFanOptions } from "./run-fan.ts";
export type { StreamState } from "./stream-state.ts";
export type {
  CommandError,
  CommandedTrait,
  CommandReceipt,
  CommandState,
  NoParams,
  PlainCommandErrorCode,
  ThermostatMode,
  ThermostatTarget,
  ThingCommands,
} from "./thing-commands.ts";
export type {
  NamedTrait,
  PastThingChange,
  Thing,
  ThingCapability,
  ThingField,
  ThingKind,
  ThingTrait,
  ThingTraits,
} from "./things.ts";
export { TokenKeeper, type TokenStore } from "./token-keeper.ts";
export type { CallOptions, WriteOptions } from "./transport.ts";
export type {
  Trigger,
  TriggerByAttributeName,
  TriggerByAttrName,
  TriggerByDevId,
  TriggerDefinition,
  TriggerTarget,
} from "./triggers.ts";
export type { DeviceQuestion, HistoryQuestion } from "./v3-devices.ts";
export type { ThingFilter, ThingHistoryQuestion, ThingQuestion } from "./v3-things.ts";
export { verifyWebhook, type WebhookMessage, type WebhookRequest } from "./webhook-messages.ts";
export type { Delivery, NewWebhook, Webhook, Webhooks } from "./webhooks.ts";
