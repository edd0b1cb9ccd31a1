import { type AccessTokens, fixedToken } from "./access-tokens.ts";
import {
  Adaptor,
  type FederatedAccount,
  type FederateOptions,
  type LargeStrings,
  type LinkStatus,
  type Unlinked,
} from "./adaptor.ts";
import { address } from "./address.ts";
import { Alerts } from "./alerts.ts";
import { DeviceTypes } from "./device-types.ts";
import type { Attribute, Command, Device, DeviceSummary, PastChange, User, WrittenValue } from "./devices.ts";
import { NotSignedIn } from "./errors.ts";
import { type EventOptions, followEvents, type HomeEvent } from "./events.ts";
import { type HomeDevice, HomeNames } from "./home-names.ts";
import { checkMembers, eventOptionNames } from "./known-members.ts";
import {
  createLinkSession,
  type LinkSession,
  type NewLinkSession,
  type OpenLinkSession,
  readLinkSession,
  waitForLinkSession,
} from "./link-sessions.ts";
import { OwnDevices } from "./own-devices.ts";
import { type Login, PlatformCalls } from "./platform.ts";
import { type CommandArguments, type CommandOptions, readReceipt, readReceipts, runCommand } from "./run-command.ts";
import { type FanOutcome, type RunFanOptions, runFan } from "./run-fan.ts";
import type { CommandedTrait, CommandReceipt, ThingCommands } from "./thing-commands.ts";
import type { PastThingChange, Thing } from "./things.ts";
import { type CallOptions, Transport, type WriteOptions } from "./transport.ts";
import type { Trigger, TriggerDefinition } from "./triggers.ts";
import { missingAccessToken, V3 } from "./v3.ts";
import type { DeviceQuestion, HistoryQuestion } from "./v3-devices.ts";
import * as v3Devices from "./v3-devices.ts";
import {
  listThings,
  readThing,
  readThingHistory,
  type ThingFilter,
  type ThingHistoryQuestion,
  type ThingQuestion,
} from "./v3-things.ts";
import { Webhooks } from "./webhooks.ts";

/** The address of the service, and the credentials of the caller. */
export interface BreezewayOptions {
  /** `{base_url}` of the interface. */
  readonly baseUrl: string;
  /** For /v3: an access token, or an object that renews tokens (a `TokenKeeper`). */
  readonly accessToken?: string | AccessTokens | undefined;
  /** For the adaptor and the platform calls, from an earlier `login`. */
  readonly secToken?: string | undefined;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** How long an answer may take. 60 seconds by default. */
  readonly timeoutMs?: number | undefined;
  /** How often a failed call is repeated if that is safe. 2 by default. */
  readonly retries?: number | undefined;
}

/**
 * The client of the service. Calls that both kinds of tokens allow use the access token (/v3) if there is one, otherwise
 * the secToken (platform calls). Linking and triggers need a secToken, everything else an access token.
 *
 * Each call takes an `AbortSignal`, rejects with one of the typed errors, and is repeated only if that is safe.
 */
export class Breezeway {
  /** Alerts in JSON. Needs an access token. */
  readonly alerts: Alerts;
  /** Webhooks, which receive events by HTTP. Needs an access token. */
  readonly webhooks: Webhooks;
  /** A company's own devices. Needs the access token of an enterprise client. */
  readonly devices: OwnDevices;
  /** Trait maps of a company's own device types. Needs the access token of an enterprise client. */
  readonly deviceTypes: DeviceTypes;
  readonly #platform: PlatformCalls;
  readonly #adaptor: Adaptor;
  readonly #v3: V3 | undefined;
  #ecoCloudUrl: string;
  #secToken: string | undefined;

  constructor({ baseUrl, accessToken, secToken, fetch, timeoutMs, retries }: BreezewayOptions) {
    const base = address(baseUrl);
    const transport = new Transport({ fetch, timeoutMs, retries });
    const tokens = typeof accessToken === "string" ? fixedToken(accessToken) : accessToken;
    this.#platform = new PlatformCalls(transport, base);
    this.#adaptor = new Adaptor(transport, () => this.#ecoCloudUrl);
    this.#v3 = tokens && new V3(transport, base, tokens);
    this.#ecoCloudUrl = `${base}/adaptor`;
    this.#secToken = secToken;
    this.alerts = new Alerts(() => this.#byAccessToken("alerts"));
    this.devices = new OwnDevices(() => this.#byAccessToken("devices"));
    this.deviceTypes = new DeviceTypes(() => this.#byAccessToken("deviceTypes"));
    this.webhooks = new Webhooks(() => this.#byAccessToken("webhooks"));
  }

  /** Sets `{adaptor_url}`, if it is not `{base_url}/adaptor`. */
  setEcoCloudUrl(url: string): void {
    this.#ecoCloudUrl = address(url);
  }

  /** Signs a user in with the platform's call, and keeps the secToken for later calls. */
  async login(
    login: Login,
    options: CallOptions = {},
  ): Promise<{ readonly userId: number; readonly secToken: string }> {
    const signedIn = await this.#platform.userLogin(login, options);
    this.#secToken = signedIn.secToken;
    return signedIn;
  }

  /** Ends the secToken. */
  async logout(options: CallOptions = {}): Promise<void> {
    const secToken = this.#bySecToken("logout");
    await this.#platform.userLogout(secToken, options);
    if (this.#secToken === secToken) this.#secToken = undefined;
  }

  /**
   * Gives the service a token of the ecosystem: links the user, or replaces the token of an existing link (error 118 is
   * repeated as PUT, 119 as POST). Afterwards the virtual device exists with its attributes. Needs a secToken.
   */
  updateFederatedToken(
    ecoSystemName: string,
    accessToken: string,
    options?: FederateOptions,
  ): Promise<FederatedAccount>;
  /** The same with callbacks: exactly one of them is called, once. */
  updateFederatedToken(
    ecoSystemName: string,
    accessToken: string,
    successCallback: (account: FederatedAccount) => void,
    errorCallback: (error: unknown) => void,
    options?: FederateOptions,
  ): void;
  updateFederatedToken(
    ecoSystemName: string,
    accessToken: string,
    optionsOrCallback?: FederateOptions | ((account: FederatedAccount) => void),
    errorCallback: (error: unknown) => void = () => undefined,
    options: FederateOptions = {},
  ): Promise<FederatedAccount> | undefined {
    const federate = async (callOptions: FederateOptions) =>
      this.#adaptor.federate(this.#bySecToken("updateFederatedToken"), ecoSystemName, accessToken, callOptions);
    if (typeof optionsOrCallback !== "function") return federate(optionsOrCallback ?? {});
    void federate(options).then(optionsOrCallback, errorCallback);
    return undefined;
  }

  /**
   * Makes a page on which the owner of an account links it, and returns its address. The ecosystem's tokens stay in the
   * service. Needs an access token with the scope `links`.
   */
  async linkSession(session: NewLinkSession, options: WriteOptions = {}): Promise<OpenLinkSession> {
    checkMembers("linkSession", session, ["ecosystem", "userId", "mode", "returnUrl", "state"]);
    return createLinkSession(this.#byAccessToken("linkSession"), session, options);
  }

  /** How a link session stands. The address with which a browser returns proves nothing: read the session. */
  async getLinkSession(id: string, options: CallOptions = {}): Promise<LinkSession> {
    return readLinkSession(this.#byAccessToken("getLinkSession"), id, options);
  }

  /** Waits until a link session is no longer `pending`: at most until it has expired. */
  async waitForLinkSession(id: string, options: CallOptions = {}): Promise<LinkSession> {
    return waitForLinkSession(this.#byAccessToken("waitForLinkSession"), id, options);
  }

  /** The state of the link to an ecosystem. Needs a secToken. */
  async getLinkStatus(ecoSystemName: string, options: CallOptions = {}): Promise<LinkStatus> {
    return this.#adaptor.status(this.#bySecToken("getLinkStatus"), ecoSystemName, options);
  }

  /** Removes the link, its virtual device and its alerts. Needs a secToken. */
  async unlink(ecoSystemName: string, options: CallOptions = {}): Promise<Unlinked> {
    return this.#adaptor.unlink(this.#bySecToken("unlink"), ecoSystemName, options);
  }

  /** The index map, with a secToken or an access token; `getHomeNames` is easier to use. */
  async getLargeStrings(deviceId: number, options: CallOptions = {}): Promise<LargeStrings> {
    if (this.#v3 && this.#secToken === undefined) {
      return this.#adaptor.largeStringsByAccessToken(this.#v3, deviceId, options);
    }
    return this.#adaptor.largeStrings(this.#bySecToken("getLargeStrings"), deviceId, options);
  }

  /** The friendly names in a linked account, with the attribute names that they stand for. */
  async getHomeNames(deviceId: number, options: CallOptions = {}): Promise<HomeNames> {
    const largeStrings = await this.getLargeStrings(deviceId, options);
    const { attributes } = await this.getDevice(deviceId, { signal: options.signal });
    return new HomeNames(largeStrings, attributes);
  }

  /** All devices of the user. An enterprise token must name a type. */
  async getDevices(
    options: CallOptions & { readonly deviceTypeName?: string | undefined } = {},
  ): Promise<readonly DeviceSummary[]> {
    checkMembers("getDevices", options, ["deviceTypeName", "signal"]);
    const { deviceTypeName, signal } = options;
    if (this.#v3) return v3Devices.listDevices(this.#v3, deviceTypeName, { signal });
    if (deviceTypeName !== undefined) throw missingAccessToken("getDevices with a deviceTypeName");
    return this.#platform.getDeviceList(this.#bySecToken("getDevices"), { signal });
  }

  /** A device with the requested attributes; by default with all that have a value. */
  async getDevice(deviceId: number, options: DeviceQuestion = {}): Promise<Device> {
    checkMembers("getDevice", options, ["attributes", "since", "signal"]);
    if (this.#v3) return v3Devices.readDevice(this.#v3, deviceId, options);
    const { attributes: names, since, signal } = options;
    if (since !== undefined) throw missingAccessToken("getDevice with since");
    const device = await this.#platform.getDevice(this.#bySecToken("getDevice"), deviceId, { signal });
    return names === undefined ? device : { ...device, attributes: await this.#read(deviceId, names, { signal }) };
  }

  /** The things of linked accounts and of own devices, without those that are gone. Each page is read when it is needed. Needs an access token. */
  things(filter: ThingFilter = {}): AsyncGenerator<Thing, void> {
    checkMembers("things", filter, ["kind", "room", "source", "signal"]);
    return listThings(this.#byAccessToken("things"), filter);
  }

  /** A thing with its traits; a gone thing too, for 90 days. Needs an access token. */
  async thing(thingId: string, options: ThingQuestion = {}): Promise<Thing> {
    checkMembers("thing", options, ["since", "signal"]);
    return readThing(this.#byAccessToken("thing"), thingId, options);
  }

  /** The past changes of a thing, oldest first. Needs an access token. */
  thingHistory(thingId: string, options: ThingHistoryQuestion = {}): AsyncGenerator<PastThingChange, void> {
    checkMembers("thingHistory", options, ["fields", "from", "to", "signal"]);
    return readThingHistory(this.#byAccessToken("thingHistory"), thingId, options);
  }

  /**
   * Sends a command to a thing, and waits for the outcome. A refusal is an outcome, not an error: the receipt is in the
   * state `rejected`, and its `error` says why. The command is executed once: a lost answer is requested again with the
   * same Idempotency-Key. Returns the receipt also when the outcome is still open after `waitMs`. Needs an access token
   * with the scope `devices:control`; a token without scopes commands only the trait `fanTimer`.
   */
  async command<Trait extends CommandedTrait, Name extends keyof ThingCommands[Trait] & string>(
    thingId: string,
    trait: Trait,
    command: Name,
    ...[params, options = {}]: CommandArguments<ThingCommands[Trait][Name]>
  ): Promise<CommandReceipt> {
    checkMembers("command", options, ["waitMs", "idempotencyKey", "signal"]);
    const v3 = this.#byAccessToken("command");
    return runCommand(v3, thingId, { trait, command, params: params ?? {} }, options as CommandOptions);
  }

  /** The receipts of the last 100 commands of a thing, newest first. Needs an access token. */
  async commands(thingId: string, options: CallOptions = {}): Promise<readonly CommandReceipt[]> {
    return readReceipts(this.#byAccessToken("commands"), thingId, options);
  }

  /** The current receipt of a command. Needs an access token. */
  async commandReceipt(thingId: string, commandId: string, options: CallOptions = {}): Promise<CommandReceipt> {
    return readReceipt(this.#byAccessToken("commandReceipt"), thingId, commandId, options);
  }

  /** Writes an attribute. On a linked account only `….fan_timer_active.requestWrite` can be written: see `runFan`. */
  async setDeviceAttribute(
    deviceId: number,
    name: string,
    value: WrittenValue,
    options: WriteOptions = {},
  ): Promise<void> {
    if (this.#v3) return v3Devices.writeAttributes(this.#v3, deviceId, { [name]: value }, options);
    if (options.idempotencyKey !== undefined) throw missingAccessToken("setDeviceAttribute with an idempotencyKey");
    const secToken = this.#bySecToken("setDeviceAttribute");
    return this.#platform.setDeviceAttribute(secToken, deviceId, name, value === null ? "" : String(value), options);
  }

  /** Writes several attributes, all of them or none. Needs an access token. */
  async setDeviceAttributes(
    deviceId: number,
    values: Readonly<Record<string, WrittenValue>>,
    options: WriteOptions = {},
  ): Promise<void> {
    return v3Devices.writeAttributes(this.#byAccessToken("setDeviceAttributes"), deviceId, values, options);
  }

  /**
   * Starts or stops a thermostat's fan, and waits for the outcome. The thermostat is one of `getHomeNames`, or
   * `d.structures[X].d.thermostats[Y]`. A refusal is an outcome, not an error, and has the ecosystem's message. The
   * request is executed once: with an access token a lost answer is requested again with the same Idempotency-Key, with
   * a secToken the request is never repeated.
   */
  async runFan(deviceId: number, thermostat: HomeDevice | string, options: RunFanOptions = {}): Promise<FanOutcome> {
    checkMembers("runFan", options, ["on", "waitMs", "signal"]);
    const { signal } = options;
    const v3 = this.#v3;
    const fanAccess = {
      read: (names: readonly string[]) => this.#read(deviceId, names, { signal }),
      write: (name: string, value: string) => this.setDeviceAttribute(deviceId, name, value, { signal }),
      commands: v3 && (() => v3Devices.readCommands(v3, deviceId, { signal })),
    };
    return runFan(fanAccess, thermostat, options);
  }

  /** The last 100 fan requests, newest first. Needs an access token. */
  async getCommands(deviceId: number, options: CallOptions = {}): Promise<readonly Command[]> {
    return v3Devices.readCommands(this.#byAccessToken("getCommands"), deviceId, options);
  }

  /** The past changes of a device, oldest first. Needs an access token. */
  getHistory(deviceId: number, options: HistoryQuestion = {}): AsyncGenerator<PastChange, void> {
    checkMembers("getHistory", options, ["attributes", "from", "to", "signal"]);
    return v3Devices.readHistory(this.#byAccessToken("getHistory"), deviceId, options);
  }

  /**
   * Follows the events of the devices. Reconnects automatically and resumes after the last event, without a gap or a
   * repetition; a `resync` event reports lost events. Ends when the signal is aborted, and throws `NotSignedIn` when the
   * access has ended. Needs an access token.
   */
  events(options: EventOptions = {}): AsyncGenerator<HomeEvent, void> {
    checkMembers("events", options, eventOptionNames);
    return followEvents(this.#byAccessToken("events"), options);
  }

  /** Creates an alert, with the names of either platform or of the web call. Returns its id. Needs a secToken. */
  async addTrigger(definition: TriggerDefinition, options: CallOptions = {}): Promise<number> {
    return this.#platform.addTrigger(this.#bySecToken("addTrigger"), definition, options);
  }

  /** The user's alerts, or those on one device. Needs a secToken. */
  async getTriggers(
    options: CallOptions & { readonly deviceId?: number | undefined } = {},
  ): Promise<readonly Trigger[]> {
    checkMembers("getTriggers", options, ["deviceId", "signal"]);
    const { deviceId, signal } = options;
    return this.#platform.getTriggers(this.#bySecToken("getTriggers"), deviceId, { signal });
  }

  /** Enables or disables an alert. Needs a secToken. */
  async setTriggerEnabled(triggerId: number, enable: boolean, options: CallOptions = {}): Promise<void> {
    return this.#platform.setTriggerEnabled(this.#bySecToken("setTriggerEnabled"), triggerId, enable, options);
  }

  /** Removes an alert. Needs a secToken. */
  async removeTrigger(triggerId: number, options: CallOptions = {}): Promise<void> {
    return this.#platform.removeTrigger(this.#bySecToken("removeTrigger"), triggerId, options);
  }

  /** The ids of the users that the token reaches. Needs an access token. */
  async getUsers(options: CallOptions = {}): Promise<readonly number[]> {
    return v3Devices.listUsers(this.#byAccessToken("getUsers"), options);
  }

  /** A user. Needs an access token. */
  async getUser(userId: number, options: CallOptions = {}): Promise<User> {
    return v3Devices.readUser(this.#byAccessToken("getUser"), userId, options);
  }

  async #read(
    deviceId: number,
    names: readonly string[],
    options: CallOptions,
  ): Promise<Readonly<Record<string, Attribute>>> {
    if (this.#v3) return v3Devices.readAttributes(this.#v3, deviceId, names, options);
    return this.#platform.getDeviceAttributes(this.#bySecToken("getDevice"), deviceId, names, options);
  }

  #bySecToken(call: string): string {
    if (this.#secToken !== undefined) return this.#secToken;
    throw new NotSignedIn(`${call} needs a secToken: call login first.`, { code: "missing_token" });
  }

  #byAccessToken(call: string): V3 {
    if (this.#v3) return this.#v3;
    throw missingAccessToken(call);
  }
}
