import { homeOf, indexesOf, largeStrings, linkedDevice, thermostatNames } from "../client/linked-account.ts";
import { ensure } from "../outcome.ts";
import type { Row } from "../row.ts";

export const rename: Row = {
  name: "rename",
  group: "The linked account",
  title: "A renamed device keeps its index",
  proves: "A thermostat and a structure that are renamed upstream show their new names under the same indexes.",
  isEssential: true,
  needs: [],
  after: ["mirror"],
  async run(context) {
    const { simulator, shared } = context;
    const { structureId, structure, thermostats } = await homeOf(context);
    const id: string = thermostats[0].device_id;
    const before = await indexesOf(context, id);
    const [newRoom, newHouse] = ["Renamed Room", "Renamed House"];
    await simulator!.play(shared.account!.id, { scene: "rename", thermostat: id, name: newRoom });
    await simulator!.play(shared.account!.id, { scene: "rename", structure: structureId, name: newHouse });
    const names = [thermostatNames(before.x, before.y)("name"), `d.structures[${before.x}].a.name`];
    await context.eventually(
      async () => {
        const { attributes } = await linkedDevice(context, names);
        return attributes[names[0]!]?.value === newRoom && attributes[names[1]!]?.value === newHouse ? true : undefined;
      },
      () => ({
        seen: `10 seconds after a thermostat and its structure were renamed upstream, ${names.join(" or ")} still shows the old name.`,
        side: "service",
        next: "GET federatedtokens shows the state of the link; the simulator's page shows what it sent.",
      }),
    );
    const after = await indexesOf(context, id);
    const { labels, identifiers } = await largeStrings(context);
    ensure(after.x === before.x && after.y === before.y && identifiers[structureId]?.[0] === before.x, () => ({
      seen: `The renamed thermostat moved from index ${before.x}/${before.y} to ${after.x}/${after.y}.`,
      side: "service",
      next: "Alerts and clients name attributes by index: do not deploy this version.",
    }));
    ensure(
      labels[newHouse] === structureId && labels[structure.name] === undefined && identifiers[id]?.[2] === newRoom,
      () => ({
        seen: "The index map (largestrings) still has the old names.",
        side: "between",
        next: "No proxy may cache the adaptor's answers.",
      }),
    );
    return { seen: `Both new names are shown; the indexes stayed ${before.x}/${before.y}.` };
  },
};
