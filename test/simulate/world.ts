import type { DeviceId, UserId } from "../../src/model/ids.ts";
import type { AttributeRow } from "../../src/store/tables/attributes.ts";
import type { DeviceRow } from "../../src/store/tables/devices.ts";
import type { LinkRow } from "../../src/store/tables/links.ts";
import { AlertOwners } from "./actors/alert-owners.ts";
import { Calls, expectOurs } from "./actors/calls.ts";
import { Clients } from "./actors/clients.ts";
import { LinkOwners } from "./actors/link-owners.ts";
import { Readers } from "./actors/readers.ts";
import { Receivers } from "./actors/receivers.ts";
import { ThingAlertOwners } from "./actors/thing-alert-owners.ts";
import { anyCredentialRules } from "./actors/tokens.ts";
import { WebhookOwners } from "./actors/webhook-owners.ts";
import { Makers, type OutletId } from "./assistants/makers.ts";
import { AssistantOwners } from "./assistants/owners.ts";
import { untold } from "./assistants/untold.ts";
import { undelivered } from "./checks/check-deliveries.ts";
import { readerBehind } from "./checks/check-readers.ts";
import { convergence } from "./checks/checker.ts";
import type { LinkStanding, Receipt, RunRecord, StoredRow } from "./checks/history.ts";
import { beginningMs } from "./clocks.ts";
import { countFirings, countLostRenewals, countOwnThings } from "./count-events.ts";
import { Deployment } from "./deployment.ts";
import { Dice } from "./dice.ts";
import { Home, type HomeSize } from "./ecosystem/home.ts";
import { OtherEcosystems } from "./ecosystem/other-ecosystems.ts";
import { Upstream } from "./ecosystem/upstream.ts";
import { Faults } from "./faults.ts";
import { type SimulatedNode, tokenIn } from "./node.ts";
import { OwnThingCallers } from "./own-things/callers.ts";
import { unsettledOwn } from "./own-things/check-own-commands.ts";
import { untoldThing } from "./own-things/check-own-things.ts";
import { Company, type OwnDevice } from "./own-things/company.ts";
import { ownTypes, tenantId, typeWorkIn } from "./own-things/rows.ts";
import { Scheduler } from "./scheduler.ts";
import { deliveriesIn } from "./store/delivery-rows.ts";
import { commandsOf } from "./store/fan-request-rows.ts";
import { horizonOf } from "./store/log-rows.ts";
import { retainedLog } from "./store/retained-log.ts";
import { Database, Draft } from "./store/rows.ts";
import { thingCommandsOf } from "./store/thing-command-rows.ts";
import { thingsOf } from "./store/thing-rows.ts";
import { thingTriggersOf, triggersOf } from "./store/trigger-rows.ts";
import { webhooksIn } from "./store/webhook-rows.ts";

/** After the last fault everything converges within this time; a stream that withholds changes takes longer. */
const convergesWithinMs = 120_000;
/** Without news for so many seconds, pollers and readers know everything. Tokens that expire bring news again and again. */
const quietAtTheEnd = 4;
/** The longest pause before a renewal is tried again. */
const renewsWithinMs = 150_000;
/** The seeds of hostile instances, far from those of runs. */
const hostileSeeds = 1_000_000_007;
/** A link of another ecosystem may wait for a renewal, for the limit of its lists, and for its own next attempt. */
const otherLinksWithinMs = 420_000;
/** A claim of a dead node, the longest back-off of these runs, and the comparison of freshness each minute. */
const assistantsToldWithinMs = 120_000;
/** The longest rest between two searches for silent devices. */
const silenceFoundWithinMs = 130_000;
const foundOutWithinMs = 12.5 * 60_000;
/** Long enough for a second look at a quiet stream. */
const quietPeriodMs = 12 * 60_000;

/** The log retention in some runs. */
const shortRetentionDays = 15_000 / 86_400_000;

/** A whole deployment with its users, its homes and its faults. The seed determines everything. */
export class World {
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly #dice: Dice;
  readonly #database = new Database();
  readonly #homes: readonly Home[];
  readonly #upstream: Upstream;
  readonly #users: readonly UserId[];
  readonly #lamps = new Map<UserId, DeviceId>();
  readonly #sirens = new Map<UserId, DeviceId>();
  readonly #calls: Calls;
  readonly #linkOwners: LinkOwners;
  readonly #clients: Clients;
  readonly #alertOwners: AlertOwners;
  readonly #thingAlertOwners: ThingAlertOwners;
  readonly #readers: Readers;
  readonly #receivers: Receivers;
  readonly #webhookOwners: WebhookOwners;
  readonly #others: OtherEcosystems;
  readonly #company: Company;
  readonly #ownThingCallers: OwnThingCallers;
  readonly #ownDevices: OwnDevice[] = [];
  readonly #hasOwnThings: boolean;
  readonly #hasWebhooks: boolean;
  readonly #makers: Makers | undefined;
  readonly #assistantOwners: AssistantOwners | undefined;
  readonly #hasShortRetention: boolean;
  readonly #deployment: Deployment;
  readonly #areClocksRight: boolean;
  readonly #kind: "usual" | "quiet stretch" | "quiet end";
  readonly #removedLinks: LinkRow[] = [];
  #looked = 0;
  /** The log entries of all users but hostile ones, in this many transactions. */
  #loggedCount = 0;
  #countedTransactions = 0;
  #isSettled = false;

  constructor(seed: number, nodes: number) {
    const dice = new Dice(seed);
    this.#dice = dice;
    const scheduler = new Scheduler(dice);
    this.scheduler = scheduler;
    const faults = new Faults(dice);
    this.faults = faults;
    this.#users = Array.from({ length: dice.between(1, 3) }, (_, index) => (index + 1) as UserId);
    this.#homes = this.#users.map(() => new Home(dice, homeSize(dice)));
    // Two users may link the same account.
    const homeOf = this.#users.map((_, index) => (dice.chance(0.1) ? 0 : index));
    const committedSoFar = () => this.#database.history.length;
    const upstream = new Upstream({
      scheduler,
      faults,
      homes: this.#homes,
      homeOf,
      committedSoFar,
      rules: dice.chance(0.4) ? anyCredentialRules(dice) : undefined,
      renewalRefused: (userId) => this.#linkOwners.relink(userId as UserId),
    });
    this.#upstream = upstream;
    const lampOf = (userId: UserId) => this.#lamps.get(userId)!;
    const sirenOf = (userId: UserId) => this.#sirens.get(userId)!;
    const linkOf = (userId: number) => this.#linkOf(userId);
    this.#areClocksRight = dice.chance(0.4);
    this.#kind = dice.weighted({ usual: 91, "quiet stretch": 4, "quiet end": 5 })!;
    // With wrong clocks a short retention would remove entries that no reader has read yet.
    const hasShortRetention = this.#areClocksRight && dice.chance(0.3);
    this.#hasShortRetention = hasShortRetention;
    const isShared = nodes > 1 && !dice.chance(0.25);
    // On SQLite the node's clock decides what is due; with a jumping clock that could be in an hour.
    this.#hasWebhooks = (isShared || this.#areClocksRight) && dice.chance(0.4);
    this.#hasOwnThings = (isShared || this.#areClocksRight) && dice.chance(0.4);
    this.#others = new OtherEcosystems({
      hostileDice: new Dice(seed + hostileSeeds),
      scheduler,
      faults,
      database: this.#database,
      linkOf,
      livingNodes: () => this.#deployment.living,
      kill: (node) => this.#deployment.kill(node),
    });
    this.#addUsersAndDevices();
    this.#receivers = new Receivers({ scheduler, faults, committedSoFar, isQuiet: () => this.#calls.areRare });
    const hasAssistants = (isShared || this.#areClocksRight) && dice.chance(0.3);
    this.#makers = hasAssistants
      ? new Makers({
          ...{ scheduler, faults, committedSoFar, isQuiet: () => this.#calls.areRare },
          syncRequested: (userId) => this.#assistantOwners?.sync(userId),
        })
      : undefined;
    const machines = {
      scheduler,
      faults,
      database: this.#database,
      upstream,
      linkOf,
      postFor: (node: SimulatedNode) => this.#receivers.postFor(node),
      newWebhookId: () => `wh_${this.#database.nextId()}`,
      logDays: hasShortRetention ? shortRetentionDays : 7,
      hasOwnThings: this.#hasOwnThings,
      makers: this.#makers,
      confirmEveryMs: dice.pick([300, 2_000, 60_000]),
      ...this.#others.wires,
      died: (node: SimulatedNode) => {
        this.#readers.disconnect(node);
        this.#receivers.disconnect(node);
      },
    };
    // One run in four is a single node with its own store.
    this.#deployment = new Deployment({ ...machines, areClocksRight: this.#areClocksRight }, nodes, isShared);
    const readyNodes = () => this.#deployment.living.filter((node) => node.isReady && !node.isFrozen);
    const calls = new Calls(scheduler, readyNodes);
    this.#calls = calls;
    const users = this.#users;
    const tokenOfRemoved = (deviceId: DeviceId) => this.#tokenOfRemoved(deviceId);
    const linkOwners = new LinkOwners({ calls, faults, upstream, users, linkOf, tokenOfRemoved, committedSoFar });
    this.#linkOwners = linkOwners;
    const virtualDeviceOf = (userId: number) => linkOf(userId)?.deviceId;
    const formerDevicesOf = (userId: UserId) => linkOwners.former.get(userId) ?? [];
    const ordinary = { lampOf, sirenOf, virtualDeviceOf };
    this.#clients = new Clients({ calls, users, ...ordinary, formerDevicesOf, committedSoFar });
    const ownTriggers = (userId: number) => triggersOf(this.#database, userId).filter(isChanged);
    const webhooksOf = (userId: number) => webhooksIn(this.#database).filter((one) => one.userId === userId);
    const deliveries = () => deliveriesIn(this.#database);
    this.#webhookOwners = new WebhookOwners({ calls, users, lampOf, webhooksOf, deliveries });
    this.#assistantOwners =
      this.#makers && new AssistantOwners({ calls, faults, database: this.#database, makers: this.#makers, users });
    const horizon = () => horizonOf(this.#database);
    this.#readers = new Readers({ calls, faults, users, lampOf, committedSoFar, horizon, hasShortRetention });
    const alertParts = { calls, users, ...ordinary, committedSoFar };
    this.#alertOwners = new AlertOwners({ ...alertParts, triggersOf: ownTriggers });
    this.#thingAlertOwners = new ThingAlertOwners({
      ...alertParts,
      thingsOf: (deviceId) => thingsOf(this.#database, deviceId),
      triggersOf: (userId) => thingTriggersOf(this.#database, userId).filter(isChanged),
    });
    const own = { calls, faults, devices: this.#ownDevices };
    this.#ownThingCallers = new OwnThingCallers({ ...own, users, committedSoFar });
    const { history } = this.#database;
    this.#company = new Company({ ...own, history, write: (device, values) => this.#writeOwn(device, values) });
  }

  /** Runs with random faults, then without. Returns what had not converged when time was up, if anything. */
  async run(): Promise<string | undefined> {
    const { scheduler } = this;
    this.#linkOwners.start();
    this.#clients.start();
    this.#alertOwners.start();
    this.#thingAlertOwners.start();
    if (this.#hasOwnThings) this.#company.start();
    if (this.#hasOwnThings) this.#ownThingCallers.start();
    this.#others.start(this.#calls, () => this.#slowness);
    this.#readers.start();
    if (this.#hasWebhooks) this.#webhookOwners.start();
    this.#assistantOwners?.start();
    if (this.#hasShortRetention) this.#applyRetention();
    for (const index of this.#homes.keys()) this.#liveOn(index);
    this.#sufferOn();
    await scheduler.runUntil(this.#dice.between(20_000, 45_000));
    if (this.#kind === "quiet stretch") await this.#beQuiet();
    this.#deployment.repair();
    this.#others.repair();
    for (const userId of this.#users) this.#linkOwners.lookAfter(userId);
    await scheduler.runUntil(scheduler.nowMs + 8_000);
    this.#isSettled = true;
    this.#clients.areQuiet = true;
    this.#alertOwners.areQuiet = true;
    this.#thingAlertOwners.areQuiet = true;
    this.#company.areQuiet = true;
    this.#others.beQuiet();
    this.#ownThingCallers.areQuiet = true;
    this.#readers.beQuiet();
    this.#webhookOwners.areQuiet = true;
    if (this.#assistantOwners) this.#assistantOwners.areQuiet = true;
    await scheduler.runUntil(scheduler.nowMs + 2_000);
    const untoldInTheDark = this.#makers && (await this.#cutOffHomes());
    if (untoldInTheDark !== undefined) return untoldInTheDark;
    for (const index of this.#homes.keys()) {
      if (this.#kind === "quiet end") this.#upstream.withhold(index);
      this.#upstream.settle(index);
    }
    this.#others.settle();
    return this.#converge();
  }

  /** A long period with few changes, some of which may be withheld by the ecosystem. */
  async #beQuiet(): Promise<void> {
    const { scheduler } = this;
    this.#calls.areRare = true;
    for (const index of this.#homes.keys()) if (this.#dice.chance(0.6)) this.#upstream.withhold(index);
    await scheduler.runUntil(scheduler.nowMs + quietPeriodMs);
    this.#calls.areRare = false;
  }

  /** Nobody reaches some homes until the assistants know it. Returns what they were not told, if anything. */
  async #cutOffHomes(): Promise<string | undefined> {
    const { scheduler } = this;
    const cutOff = this.#users.filter(() => this.#dice.chance(0.6));
    for (const userId of cutOff) this.#upstream.cutOff(userId);
    const deadlineMs = scheduler.nowMs + convergesWithinMs + assistantsToldWithinMs;
    const isShown = (userId: number) => this.#isCurrent(this.#linkOf(userId));
    let missing: string | undefined;
    do {
      await scheduler.runUntil(scheduler.nowMs + 1_000);
      const shown = cutOff.find(isShown);
      missing = shown === undefined ? this.#untold() : `user ${shown} is cut off, and the link is live`;
    } while (missing !== undefined && scheduler.nowMs <= deadlineMs);
    this.#upstream.reconnect();
    return missing;
  }

  async #converge(): Promise<string | undefined> {
    const { scheduler } = this;
    const isWithholding = this.#upstream.isWithholding;
    this.#calls.areRare = isWithholding;
    const renewalMs = Math.max(
      this.#upstream.tokens.rules ? renewsWithinMs : 0,
      this.#hasOwnThings ? silenceFoundWithinMs : 0,
      this.#others.users.length > 0 ? otherLinksWithinMs : 0,
      this.#makers ? assistantsToldWithinMs : 0,
    );
    const deadlineMs = scheduler.nowMs + renewalMs + (isWithholding ? foundOutWithinMs : convergesWithinMs);
    let known = this.#activityCount;
    let quietSeconds = 0;
    for (let goodSeconds = 0; goodSeconds < (isWithholding ? 12 : 6) || quietSeconds < quietAtTheEnd; ) {
      await scheduler.runUntil(scheduler.nowMs + 1_000);
      const news = this.#activityCount;
      quietSeconds = news === known ? quietSeconds + 1 : 0;
      known = news;
      const missing =
        convergence(this.#standings()) ??
        this.#others.behind() ??
        this.#openOwn() ??
        this.#undelivered() ??
        this.#untold();
      goodSeconds = missing === undefined ? goodSeconds + 1 : 0;
      if (scheduler.nowMs > deadlineMs && missing !== undefined) return missing;
      if (scheduler.nowMs > deadlineMs + convergesWithinMs) return "it is never quiet";
    }
    return undefined;
  }

  /**
   * Counts log entries and link calls. While this number rises, something new is still happening, and pollers and readers
   * may be behind: a user who links again, or a client that has waited to write. Hostile homes are never quiet.
   */
  get #activityCount(): number {
    const { history } = this.#database;
    for (; this.#countedTransactions < history.length; this.#countedTransactions++) {
      const { log } = history[this.#countedTransactions]!;
      this.#loggedCount += log.filter(({ userId }) => !this.#others.isHostile(userId)).length;
    }
    return this.#loggedCount + this.#linkOwners.calls.length;
  }

  /** A command to an own thing that has not ended, or a change of own things that is not logged yet. */
  #openOwn(): string | undefined {
    if (!this.#hasOwnThings) return undefined;
    const commands = this.#ownDevices.flatMap(({ id }) => this.#commandsOf(id));
    const nowMs = this.#areClocksRight ? beginningMs + this.scheduler.nowMs : undefined;
    return unsettledOwn(commands) ?? untoldThing(this.#database.history, typeWorkIn(this.#database), nowMs);
  }

  /** A thing of which a maker does not know the present state yet. */
  #untold(): string | undefined {
    for (const name of this.#assistantOwners?.wanted ?? []) {
      const [outletId, user] = name.split(" ") as [OutletId, string];
      const link = this.#linkOf(Number(user));
      const rows = link ? thingsOf(this.#database, link.deviceId) : [];
      const { arrived, linked } = this.#makers!;
      const account = { outletId, userId: Number(user), linkedSeq: linked.get(name) ?? 0 };
      const { missing, unreachable } = untold(account, { rows, isStale: !this.#isCurrent(link) }, arrived);
      if (missing !== undefined) return missing;
      for (const why of unreachable) this.faults.count(`assistant told of a ${why}`);
    }
    return undefined;
  }

  /** Whether the owner of the link follows it at present. */
  #isCurrent(link: LinkRow | undefined): boolean {
    const owner = this.#deployment.living.find(({ name }) => name === link?.owner);
    return link?.state === "live" && owner?.followerOf(link.userId)?.isLive === true;
  }

  /** A reader or webhook that has not received everything yet. */
  #undelivered(): string | undefined {
    const { history } = this.#database;
    const log = retainedLog(history);
    return readerBehind(this.#readers.records, log) ?? undelivered(this.#receivers.attempts, history, log);
  }

  record(): RunRecord {
    const { writes, reads, polls } = this.#clients;
    const devices = [...this.#database.all<DeviceRow>("devices").values()].map(({ id, lastTimeMs }) => ({
      id,
      lastTimeMs,
      states: this.#database.all<AttributeRow>(`attributes/${id}`),
    }));
    const { history } = this.#database;
    const { arrivals, revocations, lives, uses, renewals } = this.#upstream;
    const remains = this.#removed().map(({ deviceId }) => ({
      deviceId,
      entries: this.#database.all(`log/${deviceId}`).size,
    }));
    const fans = {
      sends: this.#upstream.commands.sends,
      commands: devices.flatMap(({ id }) => this.#commandsOf(id)),
      survivors: this.#deployment.living.map(({ name }) => name),
    };
    const visibility = { endMs: this.scheduler.nowMs, streams: lives, frozen: this.#deployment.frozen };
    countFirings(history, this.faults);
    countLostRenewals(renewals.calls, history, this.faults);
    countOwnThings(history, this.faults);
    const { commands, reads: ownReads } = this.#ownThingCallers;
    const triggers = this.#users.flatMap((userId): readonly object[] => [
      ...triggersOf(this.#database, userId),
      ...thingTriggersOf(this.#database, userId),
    ]);
    return {
      fans,
      assistants: this.#makers && { arrived: this.#makers.arrived, frozen: this.#deployment.frozen },
      ownThings: this.#hasOwnThings ? { calls: commands, reads: ownReads } : undefined,
      google: this.#others.record(),
      hostile: this.#others.hostileRecord(),
      unpolled: this.#unpolled(),
      credentials: { uses: uses.all, calls: renewals.calls, refusals: renewals.refusals },
      watches: this.#alertOwners.watches,
      thingWatches: this.#thingAlertOwners.watches,
      readers: this.#readers.records,
      attempts: this.#receivers.attempts,
      deliveries: deliveriesIn(this.#database) as readonly object[] as readonly StoredRow[],
      triggers: triggers as readonly StoredRow[],
      history,
      writes,
      reads,
      polls,
      receipts: this.#receipts(),
      devices,
      standings: this.#standings(),
      calls: this.#linkOwners.calls,
      revocations,
      arrivals,
      remains,
      visibility: this.#areClocksRight ? visibility : undefined,
    };
  }

  /** Applies the retention more often than the service itself does. */
  #applyRetention(): void {
    this.#calls.laterOnSomeNode("the log is shortened", [5_000, 20_000], (node) => {
      node.events.retention.sweep().catch(expectOurs);
      if (!this.#isSettled) this.#applyRetention();
    });
  }

  #liveOn(index: number): void {
    // Alarms that sound only for a moment: an emergency of milliseconds must still be mirrored.
    const isBrief = this.#homes[index]!.isFlickering || this.#dice.chance(0.3);
    const delayMs = isBrief ? this.#dice.between(0, 80) : this.#dice.between(200, 3_000);
    this.scheduler.after(delayMs * this.#slowness, undefined, `home ${index} changes`, () => {
      if (this.#isSettled) return;
      this.#upstream.change(index);
      this.#liveOn(index);
    });
  }

  #sufferOn(): void {
    this.scheduler.after(this.#dice.between(100, 5_000) * this.#slowness, undefined, "a fault is due", () => {
      if (this.faults.areOver) return;
      if (this.faults.strikes("token revoked", 0.08)) {
        const userId = this.#dice.pick(this.#users);
        this.#upstream.revoke(userId);
        this.#linkOwners.relink(userId);
      } else if (this.#upstream.tokens.rules && this.faults.strikes("access token ended early", 0.15)) {
        this.#upstream.endAccess(this.#dice.pick(this.#users));
      } else if (!this.#others.strike()) this.#deployment.strike();
      this.#sufferOn();
    });
  }

  /** The company writes what a device reports, as a client of the device's user. */
  #writeOwn({ id, userId }: OwnDevice, values: Readonly<Record<string, string>>): void {
    const changes = Object.entries(values).map(([key, value]) => ({ key, value }));
    if (changes.length === 0) return;
    const updates = [{ deviceId: id, changes }];
    this.#calls.laterOnSomeNode(`device ${id} is written`, [0, 20], (node) => {
      node.commit({ userId, cause: { by: "client", user: userId }, updates }).catch(expectOurs);
    });
  }

  get #slowness(): number {
    return this.#calls.areRare ? 60 : 1;
  }

  #addUsersAndDevices(): void {
    const draft = new Draft(this.#database);
    for (const userId of this.#others.users) draft.set("users", userId, { id: userId, tenantId });
    for (const userId of this.#users) {
      draft.set("users", userId, { id: userId, tenantId });
      this.#lamps.set(userId, this.#addOrdinary(draft, userId, "Lamp"));
      this.#sirens.set(userId, this.#addOrdinary(draft, userId, "Siren"));
      if (!this.#hasOwnThings) continue;
      for (const type of ["Light", "Light", "Valve"]) {
        this.#ownDevices.push({ id: this.#addOrdinary(draft, userId, type), userId, type });
      }
    }
    this.#database.apply(draft, { node: "setup", claim: null, atMs: 0 });
  }

  #addOrdinary(draft: Draft, userId: UserId, name: string): DeviceId {
    const id = this.#database.nextId() as DeviceId;
    const device: DeviceRow = {
      id,
      userId,
      typeId: ownTypes[name] ?? 1,
      typeName: name,
      name,
      room: null,
      isVirtual: false,
      lastTimeMs: 0,
    };
    draft.set("devices", id, device);
    return id;
  }

  #linkOf(userId: number): LinkRow | undefined {
    for (const link of this.#database.all<LinkRow>("links").values()) if (link.userId === userId) return link;
    return undefined;
  }

  /** The removed links, with their last row. */
  #removed(): readonly LinkRow[] {
    const { history } = this.#database;
    for (; this.#looked < history.length; this.#looked++) {
      for (const { table, before, after } of history[this.#looked]!.writes) {
        if (table === "links" && after === null && before) this.#removedLinks.push(before as unknown as LinkRow);
      }
    }
    return this.#removedLinks;
  }

  #tokenOfRemoved(deviceId: DeviceId): string {
    return tokenIn(this.#removed().find((link) => link.deviceId === deviceId)!);
  }

  #standings(): LinkStanding[] {
    const removed = this.#removed();
    return this.#users.map((userId) => {
      const link = this.#linkOf(userId);
      const rows = link ? this.#database.all<AttributeRow>(`attributes/${link.deviceId}`) : new Map();
      const followers = this.#deployment.living.flatMap((node) => {
        const follower = node.followerOf(userId);
        return follower ? [{ node: node.name, state: follower.isLive ? "live" : "waiting" }] : [];
      });
      return {
        userId,
        home: this.#upstream.home(userId).truth(),
        link: (link as StoredRow | undefined) ?? null,
        values: new Map([...rows].map(([key, { value }]) => [key as number, value])),
        things: link ? (thingsOf(this.#database, link.deviceId) as readonly object[] as readonly StoredRow[]) : [],
        followers,
        openStreams: this.#upstream.openStreams(userId),
        commands: link ? this.#commandsOf(link.deviceId) : [],
        isWanted: this.#linkOwners.wantsLink(userId),
        strays: this.#deployment.living.flatMap((node) =>
          removed.flatMap(({ userId: whose, deviceId }) => {
            const isFollowed = whose === userId && node.federation.keeper.supervisor(deviceId) !== undefined;
            return isFollowed ? [`${node.name} follows the removed link ${deviceId}`] : [];
          }),
        ),
      };
    });
  }

  /** Nobody polls the company's devices, nor those of the other ecosystems. */
  #unpolled(): readonly number[] {
    const polled = new Set<number>(this.#users);
    const others = this.#database.history.flatMap(({ writes }) =>
      writes.flatMap(({ table, key, before, after }) => {
        return table === "devices" && !before && !polled.has(after?.userId as number) ? [key as number] : [];
      }),
    );
    return [...others, ...this.#ownDevices.map(({ id }) => id)];
  }

  #commandsOf(deviceId: number): readonly StoredRow[] {
    const rows: readonly object[] = [
      ...commandsOf(this.#database, deviceId),
      ...thingCommandsOf(this.#database, deviceId),
    ];
    return rows as readonly StoredRow[];
  }

  /** Accounts that the current followers received: all of them must have been committed. */
  #receipts(): Receipt[] {
    return this.#deployment.living.flatMap((node) =>
      node.receipts.filter(({ userId, follower }) => {
        return follower !== undefined && follower === node.followerOf(userId) && !node.withSkippedSnapshots.has(userId);
      }),
    );
  }
}

/** The owners of alerts that command things leave them as they are. */
function isChanged({ commands }: { readonly commands: readonly unknown[] }): boolean {
  return commands.length === 0;
}

/** Mostly small homes, some that fill a range of indexes again and again, some larger than the model. */
function homeSize(dice: Dice): HomeSize {
  const kind = dice.weighted({ small: 84, busy: 11, overLimit: 5 });
  if (kind === "small") {
    const structures = dice.between(1, 2);
    return { structures, thermostats: dice.between(0, 3), alarms: dice.between(1, 5), mostDevices: 8 };
  }
  if (kind === "busy") return { structures: 1, thermostats: 18, alarms: 17, mostDevices: 21 };
  return { structures: 3, thermostats: 24, alarms: 24, mostDevices: 30 };
}
