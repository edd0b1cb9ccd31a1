import type { CommandOutcome, Connector, StreamEnd, StreamListener } from "../../src/ecosystems/connector.ts";
import type { Credential, RenewalOutcome } from "../../src/ecosystems/credential.ts";
import { EcosystemRefused } from "../../src/model/errors.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { home } from "./made-homes.ts";

/**
 * How the ecosystem answers a renewal. `lost`: it issues a new credential, and its answer is lost. `kept`: as `lost`, but
 * the old refresh token stays valid until the new one is used. `garbage`: an answer without a token. `throws`: a defect
 * of the connector.
 */
export type RenewalMode = "answers" | "down" | "lost" | "kept" | "garbage" | "refuses" | "throws";

interface Account {
  /** The valid refresh tokens. */
  refreshTokens: string[];
  /** Valid access tokens, and when they expire. */
  readonly accessTokens: Map<string, number>;
}

interface Stream {
  readonly token: string;
  readonly end: (end: StreamEnd) => void;
}

/** An ecosystem whose access tokens expire and whose refresh tokens rotate. It records every renewal. */
export class RenewingEcosystem {
  readonly accounts = new Map<string, Account>();
  readonly streams = new Set<Stream>();
  /** The times at which renewals began, on the monotonic clock. */
  readonly renewalsMs: number[] = [];
  /** How often a renewal began while another one of the same refresh token was in progress. */
  overlaps = 0;
  refusals = 0;
  commands: string[] = [];
  /** The token of each stream and command that was refused. */
  readonly refusedTokens: string[] = [];
  mode: RenewalMode = "answers";
  /** A refresh token stays valid until the one that followed it is used. */
  isForgiving = false;
  /** How long the token endpoint takes to answer. */
  answerMs = 0;
  lifetimeMs = 60_000;
  readonly #runtime: Runtime;
  readonly #inProgress = new Set<string>();
  #issued = 0;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** A new account with its first credential. */
  consent(name: string): Credential {
    this.accounts.set(name, { refreshTokens: [], accessTokens: new Map() });
    return this.#issue(name);
  }

  /** Whether the ecosystem accepts this access token now. */
  accepts(token: string): boolean {
    return this.#runtime.nowMs() < (this.#accountOf(token)?.accessTokens.get(token) ?? 0);
  }

  /** Revokes all access tokens of an account; the refresh token stays valid. */
  expire(name: string): void {
    const account = this.accounts.get(name)!;
    account.accessTokens.clear();
    this.#endStreams();
  }

  /** The ecosystem as one node's connector sees it. */
  connector(): Connector & Required<Pick<Connector, "renew">> {
    return {
      name: "hearth",
      displayName: "Hearth account",
      capabilities: { fanNeedsHome: false, planning: { endsEcoFirst: false } },
      read: async (token) => {
        if (!this.accepts(token)) throw new EcosystemRefused("the token is invalid");
        return home();
      },
      follow: (token, listener, signal) => this.#follow(token, listener, signal),
      act: async (token): Promise<CommandOutcome> => {
        if (!this.#takes(token)) return { state: "unauthorized" };
        this.commands.push(token);
        return { state: "accepted" };
      },
      renew: (credential) => this.#renew(credential),
      revoke: async () => true,
      pauseMs: () => 5_000,
    };
  }

  #follow(token: string, listener: StreamListener, signal: AbortSignal): Promise<StreamEnd> {
    const { promise, resolve } = Promise.withResolvers<StreamEnd>();
    if (!this.#takes(token)) return Promise.resolve({ reason: "unauthorized", detail: "the token is invalid" });
    const stream: Stream = {
      token,
      end: (end) => {
        this.streams.delete(stream);
        cancel();
        resolve(end);
      },
    };
    this.streams.add(stream);
    const cancel = this.#runtime.after(this.#accountOf(token)!.accessTokens.get(token)! - this.#runtime.nowMs(), () =>
      stream.end({ reason: "unauthorized", detail: "the token has expired" }),
    );
    signal.addEventListener("abort", () => stream.end({ reason: "stopped", detail: "stopped by us" }), { once: true });
    listener.home(home());
    return promise;
  }

  #takes(token: string): boolean {
    const isAccepted = this.accepts(token);
    if (!isAccepted) this.refusedTokens.push(token);
    return isAccepted;
  }

  async #renew(credential: Credential): Promise<RenewalOutcome> {
    const { refreshToken = "" } = credential;
    this.renewalsMs.push(this.#runtime.elapsedMs());
    if (this.#inProgress.has(refreshToken)) this.overlaps += 1;
    this.#inProgress.add(refreshToken);
    if (this.answerMs > 0) await new Promise<void>((resolve) => this.#runtime.after(this.answerMs, resolve));
    this.#inProgress.delete(refreshToken);
    return this.#answer(refreshToken);
  }

  #answer(refreshToken: string): RenewalOutcome {
    const { mode } = this;
    if (mode === "throws") throw new Error(`can't send ${refreshToken}`);
    if (mode === "down") return { state: "unanswered", detail: `no connection with ${refreshToken}` };
    if (mode === "garbage") return { state: "renewed", credential: { html: "<p>Sorry</p>" } as never };
    const name = refreshToken.split(" of ")[1] ?? "";
    if (!this.accounts.get(name)?.refreshTokens.includes(refreshToken) || mode === "refuses") {
      this.refusals += 1;
      return { state: "refused", reason: "invalid_grant: the user has withdrawn access" };
    }
    const credential = this.#issue(name, this.isForgiving || mode === "kept" ? [refreshToken] : []);
    if (mode === "lost" || mode === "kept") return { state: "unanswered", detail: "the connection was reset" };
    return { state: "renewed", credential };
  }

  #issue(name: string, keptRefreshTokens: readonly string[] = []): Credential {
    this.#issued += 1;
    const account = this.accounts.get(name)!;
    const [accessToken, refreshToken] = [`access ${this.#issued} of ${name}`, `refresh ${this.#issued} of ${name}`];
    const expiresMs = this.#runtime.nowMs() + this.lifetimeMs;
    account.accessTokens.set(accessToken, expiresMs);
    account.refreshTokens = [...keptRefreshTokens, refreshToken];
    for (const [token, untilMs] of account.accessTokens) {
      if (untilMs <= this.#runtime.nowMs()) account.accessTokens.delete(token);
    }
    return { accessToken, refreshToken, expiresMs, project: `project of ${name}` };
  }

  #accountOf(token: string): Account | undefined {
    return this.accounts.get(token.split(" of ")[1] ?? "");
  }

  #endStreams(): void {
    for (const stream of this.streams) {
      if (!this.accepts(stream.token)) stream.end({ reason: "unauthorized", detail: "the token is invalid" });
    }
  }
}
