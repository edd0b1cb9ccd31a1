import type { StreamEnd } from "../connector.ts";
import { untilAborted } from "../kit/abort.ts";
import type { LiveHome } from "./live-home.ts";

type Opened = LiveHome | { readonly end: StreamEnd };

interface CommandHome {
  readonly opened: Promise<Opened>;
  /** Aborts when no command uses the home any more. */
  readonly ending: AbortController;
  commands: number;
}

/** Homes for commands to accounts without a stream. The commands that come at the same time share one session. */
export class CommandHomes {
  readonly #open: (access: string, signal: AbortSignal) => Promise<Opened>;
  readonly #homes = new Map<string, CommandHome>();

  constructor(open: (access: string, signal: AbortSignal) => Promise<Opened>) {
    this.#open = open;
  }

  /** Rejects when the signal aborts before the home is open. */
  async use<Result>(
    access: string,
    signal: AbortSignal,
    send: (home: Opened) => Result | Promise<Result>,
  ): Promise<Result> {
    const home = this.#homes.get(access) ?? this.#add(access);
    home.commands += 1;
    try {
      return await send(await untilAborted(home.opened, signal));
    } finally {
      home.commands -= 1;
      if (home.commands === 0) this.#end(access, home);
    }
  }

  #add(access: string): CommandHome {
    const ending = new AbortController();
    const home: CommandHome = { opened: this.#open(access, ending.signal), ending, commands: 0 };
    this.#homes.set(access, home);
    const forget = () => this.#forget(access, home);
    // A command that comes after the end of the session needs a new one.
    home.opened.then((opened) => ("end" in opened ? forget() : opened.session.ended.then(forget)), forget);
    return home;
  }

  #end(access: string, ended: CommandHome): void {
    this.#forget(access, ended);
    ended.ending.abort();
    ended.opened.then(
      (home) => "end" in home || home.session.finish("stopped", "the commands were sent"),
      () => undefined,
    );
  }

  #forget(access: string, home: CommandHome): void {
    if (this.#homes.get(access) === home) this.#homes.delete(access);
  }
}
