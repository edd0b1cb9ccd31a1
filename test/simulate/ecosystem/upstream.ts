import type { Connector, StreamEnd, StreamListener } from "../../../src/ecosystems/connector.ts";
import type { Credential } from "../../../src/ecosystems/credential.ts";
import type { Home as ReportedHome } from "../../../src/home/home.ts";
import { EcosystemRefused, EcosystemUnreachable } from "../../../src/model/errors.ts";
import { fanOf } from "../../ecosystems/actions.ts";
import { type TokenUser, TokenUses } from "../actors/token-uses.ts";
import { type CredentialRules, grantOf, refreshTokenFor, Tokens, userOf } from "../actors/tokens.ts";
import type { Arrival, HomeTruth, Revocation, StreamLife } from "../checks/history.ts";
import type { Faults } from "../faults.ts";
import type { Process, Scheduler } from "../scheduler.ts";
import { CommandEndpoint } from "./command-endpoint.ts";
import type { Home } from "./home.ts";
import { RenewalEndpoint, type RenewingNode } from "./renewal-endpoint.ts";
import { clearSnapshot, incompleteSnapshot } from "./snapshots.ts";
import { type Look, Stream } from "./stream.ts";

/** A node that follows accounts, and is called for each clear snapshot that reaches it. */
export interface UpstreamNode extends RenewingNode, TokenUser {
  received(token: string, home: HomeTruth): void;
  /** Whether the node is verifying a token of the user now; other reads are second looks. */
  isProving(userId: number): boolean;
  /** Whether the node is linking the user now. */
  isLinking(userId: number): boolean;
}

export interface UpstreamParts {
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly homes: readonly Home[];
  /** The index of each user's home. */
  readonly homeOf: readonly number[];
  /** The number of committed transactions. */
  readonly committedSoFar: () => number;
  /** Undefined: tokens do not expire. */
  readonly rules: CredentialRules | undefined;
  /** Called when the ecosystem has refused to renew the credential of a user. */
  readonly renewalRefused: (userId: number) => void;
}

/** The ecosystem: homes that change, tokens that are revoked, streams that deliver whole accounts, and their faults. */
export class Upstream {
  readonly tokens: Tokens;
  readonly arrivals: Arrival[] = [];
  readonly revocations: Revocation[] = [];
  readonly lives: StreamLife[] = [];
  readonly uses: TokenUses;
  readonly commands: CommandEndpoint;
  readonly renewals: RenewalEndpoint;
  readonly #parts: UpstreamParts;
  readonly #scheduler: Scheduler;
  readonly #faults: Faults;
  readonly #process: Process = { name: "ecosystem", isDead: false, isFrozen: false };
  readonly #streams = new Set<Stream>();
  /** The users whose accounts nobody can reach. */
  readonly #cutOff = new Set<number>();
  /** The number of stream events that a node received with tokens of a grant. */
  readonly #received = new Map<string, number>();

  constructor(parts: UpstreamParts) {
    this.#parts = parts;
    this.#scheduler = parts.scheduler;
    this.#faults = parts.faults;
    const { scheduler, committedSoFar, rules } = parts;
    const tokens = new Tokens(rules, () => scheduler.nowMs);
    this.tokens = tokens;
    this.uses = new TokenUses(committedSoFar, () => scheduler.nowMs);
    const endpoint = { ...parts, tokens, process: this.#process, delayMs: () => this.#delayMs() };
    const carryOut = (userId: number, command: ReturnType<typeof fanOf>) => this.#carryOut(userId, command);
    this.commands = new CommandEndpoint({ ...endpoint, uses: this.uses, carryOut });
    this.renewals = new RenewalEndpoint({
      ...endpoint,
      changed: () => this.#tokensChanged(),
      refused: parts.renewalRefused,
    });
  }

  home(userId: number): Home {
    return this.#parts.homes[this.#parts.homeOf[userId - 1]!]!;
  }

  openStreams(userId: number): number {
    return this.#count((stream) => stream.userId === userId);
  }

  /** The streams of a node with tokens of the same grant. */
  openStreamsOf(node: Process, token: string): number {
    return this.#count((stream) => stream.process === node && grantOf(stream.token) === grantOf(token));
  }

  /** What a user hands over to link: a token, or a credential if tokens expire. */
  credentialFor(node: RenewingNode, token: string): string | Credential {
    const { rules } = this.#parts;
    if (!rules) return token;
    this.#tokensChanged();
    const expiresMs = node.nowMs() + rules.lifetimeMs;
    return { accessToken: token, refreshToken: refreshTokenFor(token), expiresMs };
  }

  get isWithholding(): boolean {
    return this.#count((stream) => stream.isWithholding) > 0;
  }

  /** Makes a random change in a home; its streams deliver it. */
  change(index: number): void {
    const home = this.#parts.homes[index]!;
    this.#scheduler.note(`home ${index}: ${home.change()}`);
    if (home.isOverLimit) this.#faults.count("account over the limit");
    for (const stream of this.#streamsOf(index)) this.#send(stream);
  }

  /** A last change that is delivered to all streams; sometimes incomplete, so that a second look must complete it. */
  settle(index: number): void {
    const home = this.#parts.homes[index]!;
    home.rename();
    const isClear = this.#scheduler.dice.chance(0.8);
    for (const stream of this.#streamsOf(index)) {
      if (isClear) this.#send(stream);
      else stream.push(this.#incompleteLook(home.truth()));
    }
  }

  /** From now on the home's streams send only keep-alives. */
  withhold(index: number): void {
    for (const stream of this.#streamsOf(index)) {
      if (!stream.isWithholding) this.#faults.count("changes withheld");
      stream.isWithholding = true;
    }
  }

  /** The user revokes all access to the account and gets a new token. */
  revoke(userId: number): void {
    this.#scheduler.note(`the tokens of user ${userId} are revoked`);
    this.tokens.endAll(userId);
    this.tokens.issue(userId);
    this.#endUnauthorized();
  }

  /** The ecosystem ends the access tokens of a user before their time. */
  endAccess(userId: number): void {
    this.#scheduler.note(`the access tokens of user ${userId} are ended`);
    this.tokens.endAccess(userId);
    this.#endUnauthorized();
  }

  /** From now on nobody reaches the account of a user. */
  cutOff(userId: number): void {
    this.#scheduler.note(`the account of user ${userId} is cut off`);
    this.#cutOff.add(userId);
    for (const stream of this.#streams) if (stream.userId === userId) stream.end("closed");
  }

  /** All accounts can be reached again. */
  reconnect(): void {
    this.#scheduler.note("all accounts can be reached");
    this.#cutOff.clear();
  }

  /** A node has died: closes its connections. */
  disconnect(node: Process): void {
    this.renewals.disconnect(node);
    for (const stream of [...this.#streams]) {
      if (stream.process !== node) continue;
      this.#streams.delete(stream);
      stream.die();
    }
  }

  /** The connector of one node. */
  connectorFor(node: UpstreamNode): Connector {
    return {
      name: "nest",
      displayName: "Nest account",
      capabilities: { fanNeedsHome: true, planning: { endsEcoFirst: false } },
      read: (token) => this.#read(node, token),
      follow: (token, listener, signal) => this.#follow(node, token, listener, signal),
      act: (token, action, signal) => this.commands.runFan(node, token, fanOf(action), signal),
      ...(this.tokens.rules && { renew: (credential, signal) => this.renewals.renew(node, credential, signal) }),
      revoke: (token) => this.#revoke(node, token),
      pauseMs: (_, failures, random) => Math.min(15_000, 250 * 2 ** failures) * (0.5 + random() / 2),
    };
  }

  /** The answer holds the home as it was when the request arrived, not when the answer arrives. */
  #read(node: UpstreamNode, token: string): Promise<ReportedHome> {
    const isSecondLook = !node.isProving(userOf(token));
    const isLinking = node.isLinking(userOf(token));
    if (isSecondLook) this.#faults.count("second look");
    const key = `${node.name} ${grantOf(token)}`;
    const receivedBefore = this.#received.get(key);
    if (isSecondLook) this.uses.begin(node, token, "read");
    return new Promise((resolve, reject) => {
      this.#scheduler.after(this.#delayMs(), this.#process, `${node.name} reads ${token}`, () => {
        const isGood = this.#accepts(token);
        const look = this.#look(this.home(userOf(token)).truth());
        this.#scheduler.after(this.#delayMs(), node, `read of ${token} answered`, () => {
          if (this.#cutOff.has(userOf(token))) return reject(new EcosystemUnreachable("No answer."));
          if (!isGood) return reject(new EcosystemRefused("The token isn't good."));
          if (this.#faults.strikes("read failed", 0.1)) return reject(new EcosystemUnreachable("No answer."));
          const isOvertaken = this.#received.get(key) !== receivedBefore;
          if (!isOvertaken || isLinking) this.#arrived(token, look, isOvertaken);
          if (isOvertaken && isSecondLook) this.#faults.count("second look overtaken");
          for (const stream of isOvertaken ? [] : this.#streams) {
            if (stream.process === node && grantOf(stream.token) === grantOf(token)) stream.noteRead(look);
          }
          resolve(look.reported);
        });
      });
    });
  }

  #follow(node: UpstreamNode, token: string, listener: StreamListener, signal: AbortSignal): Promise<StreamEnd> {
    const refused = this.uses.begin(node, token, "stream");
    return new Promise((told) => {
      const scheduler = this.#scheduler;
      const resolve = (end: StreamEnd) => {
        if (end.reason === "unauthorized") refused();
        told(end);
      };
      const delivers = (look: Look | "unchanged") => this.#delivered(node, token, look);
      const stream = new Stream({ scheduler, process: node, token, listener, resolve, delivers });
      if (signal.aborted) return stream.end("stopped");
      signal.addEventListener("abort", () => this.#stopped(stream, signal.reason), { once: true });
      scheduler.after(this.#delayMs(), node, `stream of ${token} connects`, () => {
        if (stream.hasEnded) return;
        if (this.#cutOff.has(stream.userId)) return stream.end("unreachable");
        if (!this.#accepts(token)) return stream.end("unauthorized");
        if (this.#faults.strikes("stream refused", 0.1)) return stream.end("refused");
        if (this.#faults.strikes("stream unreachable", 0.1)) return stream.end("unreachable");
        this.#streams.add(stream);
        this.lives.push(stream.life);
        stream.push(this.#look(this.home(stream.userId).truth()));
      });
    });
  }

  #carryOut(userId: number, { thermostatId, isOn }: ReturnType<typeof fanOf>): void {
    const index = this.#parts.homeOf[userId - 1]!;
    this.#parts.homes[index]!.runFan(thermostatId, isOn);
    for (const stream of this.#streamsOf(index)) this.#send(stream);
  }

  #revoke(node: UpstreamNode, token: string): Promise<boolean> {
    this.revocations.push({ token, seq: this.#parts.committedSoFar() });
    return new Promise((resolve) => {
      this.#scheduler.after(this.#delayMs(), this.#process, `${node.name} revokes ${token}`, () => {
        const hasFailed = this.#faults.strikes("revocation failed", 0.3);
        if (!hasFailed || this.#scheduler.dice.chance(0.3)) this.tokens.end(token);
        this.#endUnauthorized();
        this.#scheduler.after(this.#delayMs(), node, `revocation of ${token} answered`, () => resolve(!hasFailed));
      });
    });
  }

  #stopped(stream: Stream, reason: unknown): void {
    const isFoundOut = typeof reason === "string" && reason.includes("kept back");
    if (isFoundOut && !stream.hasEnded) this.#faults.count("drift");
    this.#streams.delete(stream);
    stream.end("stopped", isFoundOut);
  }

  #delivered(node: UpstreamNode, token: string, look: Look | "unchanged"): void {
    const key = `${node.name} ${grantOf(token)}`;
    this.#received.set(key, (this.#received.get(key) ?? 0) + 1);
    if (look === "unchanged") return;
    this.#arrived(token, look);
    if (look.isClear) node.received(token, look.home);
  }

  #arrived(token: string, { home }: Look, isOvertaken = false): void {
    const { alarms, structures } = home;
    this.arrivals.push({ userId: userOf(token), seq: this.#parts.committedSoFar(), alarms, structures, isOvertaken });
  }

  #send(stream: Stream): void {
    if (this.#faults.strikes("stream dropped", 0.015)) stream.end("closed");
    if (this.#faults.strikes("stream malformed", 0.004)) stream.end("malformed");
    if (stream.hasEnded) return;
    if (!stream.isSilent && this.#faults.strikes("stream silent", 0.006)) stream.fallSilent();
    if (!stream.isWithholding && this.#faults.strikes("changes withheld", 0.003)) stream.isWithholding = true;
    const home = this.home(stream.userId).truth();
    stream.push(this.#look(home));
    if (!this.#faults.strikes("snapshot repeated", 0.1)) return;
    stream.push(this.#scheduler.dice.chance(0.5) ? "unchanged" : this.#look(home));
  }

  #look(home: HomeTruth): Look {
    if (this.#faults.strikes("snapshot incomplete", 0.08)) return this.#incompleteLook(home);
    return { reported: clearSnapshot(home), home, isClear: true };
  }

  #incompleteLook(home: HomeTruth): Look {
    return { reported: incompleteSnapshot(home, this.#scheduler.dice), home, isClear: false };
  }

  #accepts(token: string): boolean {
    const isGood = this.tokens.isGood(token);
    if (isGood) this.tokens.use(token);
    return isGood;
  }

  /** An access token was issued, and others may have ended. */
  #tokensChanged(): void {
    const { lifetimeMs, endsOldTokens, endsStreams } = this.tokens.rules!;
    if (endsOldTokens) this.#endUnauthorized();
    if (endsStreams)
      this.#scheduler.after(lifetimeMs + 1, this.#process, "an access token expires", () => this.#endUnauthorized());
  }

  #endUnauthorized(): void {
    for (const stream of this.#streams) if (!this.tokens.isGood(stream.token)) stream.end("unauthorized");
  }

  #streamsOf(index: number): Stream[] {
    return [...this.#streams].filter(({ userId, hasEnded }) => !hasEnded && this.#parts.homeOf[userId - 1] === index);
  }

  #count(isMeant: (stream: Stream) => boolean): number {
    return [...this.#streams].filter((stream) => !stream.hasEnded && isMeant(stream)).length;
  }

  #delayMs(): number {
    const { dice } = this.#scheduler;
    return dice.chance(0.05) ? dice.between(500, 5_000) : dice.between(1, 80);
  }
}
