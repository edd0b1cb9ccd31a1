import type { Credential } from "../../src/ecosystems/credential.ts";
import type { EcosystemConfiguration } from "../../src/ecosystems/protocol.ts";

/** A simulated ecosystem with the demo's house. */
export interface DemoEcosystem {
  readonly configuration: EcosystemConfiguration;
  /** The address of the simulator, which also has a page of the house. */
  readonly url: string;
  /** False when the simulator has a new house: a link from before is of no use then. */
  readonly hasHouse: boolean;
  /** What the page suggests to try. */
  readonly walk: Walk;
  /** What the hall lamp follows. */
  readonly lamp: LampRule;
  /** The scene that the banner suggests. */
  readonly firstScene: string;
  /** A token for the house, which is made if there is none; or a credential, if clients can bring no token. */
  issueToken(
    seed: string,
  ): { readonly token: string; readonly ecosystemUrl?: string } | { readonly credential: Credential };
  /** The scenes that the page offers, in groups. */
  readonly scenes: readonly SceneGroup[];
  /** Plays a scene in the home with this name. Returns why it can't be played. */
  playScene(scene: string, homeName: string | null): Promise<string | undefined>;
  /** When a person last emptied the house; infinity if nobody did. */
  lastDepartureMs(): number;
  startLife(seed: string): void;
  /** Pauses the simulated life, so that a viewer sees the effect of the own action. */
  pauseLife(): void;
  stop(): Promise<void>;
}

export interface SceneGroup {
  /** What the scenes are about. */
  readonly about: string;
  /** The names of the scenes, and the words of their buttons. */
  readonly buttons: readonly (readonly [scene: string, words: string])[];
}

export const presenceScenes: SceneGroup = {
  about: "People",
  buttons: [
    ["leave", "Leave home"],
    ["come-home", "Come home"],
  ],
};

/** `refusal`: the ecosystem refuses commands while nobody is home. `smoke`: there is smoke. `fan`: it tells neither presence nor smoke. */
export type Walk = "refusal" | "smoke" | "fan";

/** An attribute of the virtual device, and the values that switch the lamp. */
export interface LampRule {
  readonly attribute: string;
  readonly on: string;
  readonly off: string;
  /** The lamp before anything has happened. */
  readonly first: "on" | "off";
}

/** The lamp is on while somebody is home, and off while nobody is. */
export const lampOfPresence: LampRule = {
  attribute: "d.structures[1].a.away",
  on: "home",
  off: "(auto-)?away",
  first: "on",
};

export interface DemoEcosystemOptions {
  /** The data folder. */
  readonly folder: string;
  readonly port: number;
  readonly homeName: string;
}

/** Every other event of the simulated life is a visible one: a viewer sees a change within ten seconds. */
export const lifeEveryMs = 4_000;
