import type { Thing, ThingKind } from "../../../../sdk/src/index.ts";
import { BadParameter } from "../../../model/errors.ts";
import type { UserId } from "../../../model/ids.ts";
import type { Call, OwnCommand } from "../../command.ts";
import { timeOption } from "../../devices/times.ts";
import { id, optional, text } from "../../input.ts";
import type { Noun } from "../../noun.ts";
import type { Api } from "../../remote/api.ts";
import { serviceOf, withOwnerOptions } from "../../remote/chosen-service.ts";
import { ServiceRefused } from "../../remote/service-errors.ts";
import { table, whole } from "../../terminal/output.ts";
import { conditionOf, thingView } from "../../things/thing-view.ts";
import { command, explained, receipts, thingArgument } from "./thing-command.ts";
import { history } from "./thing-history.ts";

const list: OwnCommand = {
  name: "thing list",
  meaning: "list things, without those that are gone",
  examples: ["thing list", "thing list --kind alarm", 'thing list --room "Living room" --profile home'],
  options: (command) =>
    withOwnerOptions(command)
      .option("--kind <kind>", "of one kind only, such as thermostat, alarm, light, home")
      .option("--room <name>", "in one room only")
      .option("--source <ecosystem>", "of one ecosystem only"),
  async run(call) {
    const { print } = call;
    const things = await print.during("reading the things", listed(call));
    print.data({ things }, () => {
      if (things.length === 0) {
        const isNarrowed = ["kind", "room", "source", "user"].some((name) => call.typed[name] !== undefined);
        return `There are no ${isNarrowed ? "such things" : "things"}. Connected accounts have things, and devices whose type has a trait map. See: breezeway link list, breezeway device-type list`;
      }
      return table(
        [whole("THING"), "KIND", "NAME", "ROOM", "HOME", "SOURCE", "CONDITION"],
        things.map((thing) => [
          thing.thingId,
          thing.kind,
          thing.name ?? "-",
          thing.room ?? "-",
          thing.homeName ?? "-",
          thing.source,
          conditionOf(thing),
        ]),
        print.width,
      );
    });
  },
};

async function listed(call: Call): Promise<readonly Thing[]> {
  const { typed } = call;
  const [kind, room, source] = ["kind", "room", "source"].map((name) => optional(typed, name));
  const userId = optional(typed, "user") === undefined ? undefined : id<UserId>(typed, "user");
  const api = await serviceOf(call);
  const reading = api.read(async (sdk) => {
    const found: Thing[] = [];
    // The service knows the kinds, and refuses others.
    for await (const thing of sdk.things({ kind: kind as ThingKind | undefined, room, source })) {
      // On this machine the token is for the whole tenant.
      if (userId === undefined || thing.userId === undefined || thing.userId === userId) found.push(thing);
    }
    return found;
  });
  return reading.catch(rethrowWithOption);
}

/** Names the option of the command line instead of the service's parameter. */
function rethrowWithOption(error: unknown): never {
  if (!(error instanceof ServiceRefused) || !/^The parameter kind /.test(error.message)) throw error;
  throw new BadParameter("kind", error.message.replace("The parameter kind", "--kind"));
}

const get: OwnCommand = {
  name: "thing get",
  alias: "show",
  meaning: "show a thing and its traits; a gone thing is kept for 90 days",
  examples: ["thing get t_…", "thing get t_… --since 15m --json"],
  arguments: [thingArgument],
  options: (command) =>
    withOwnerOptions(command).option("--since <time>", "only what changed after: 15m, 2h, 2026-01-31T12:00Z"),
  async run(call) {
    const { print } = call;
    const since = timeOption(call.typed, "since");
    const api = await serviceOf(call);
    const thing = await readThing(call, api, since);
    const whole = print.isJson || since === undefined ? thing : await readThing(call, api);
    print.data(thing, () => thingView(thing, { style: print.style, width: print.width, nowMs: Date.now() }, whole));
  },
};

const watch: OwnCommand = {
  name: "thing watch",
  meaning: "show a thing, then its changes; it asks the service every 2 seconds",
  examples: ["thing watch t_…", "thing watch t_… --json | head -3"],
  arguments: [thingArgument],
  options: withOwnerOptions,
  async run(call) {
    const { watchThing } = await import("../../things/watch-thing.ts");
    const api = await serviceOf(call);
    return watchThing(call, api, await readThing(call, api));
  },
};

function readThing({ typed, print }: Call, api: Api, since?: number): Promise<Thing> {
  const thingId = text(typed, "thing");
  const reading = api.read((sdk) => sdk.thing(thingId, { since }));
  return print.during("reading the thing", reading).catch(explained(thingId));
}

export const thing: Noun = {
  name: "thing",
  alias: "things",
  meaning: "thermostats, alarms, lamps and other things: of linked accounts, and of devices with a trait map",
  commands: [list, get, watch, history, command, receipts],
};
