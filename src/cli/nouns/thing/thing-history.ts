import type { OwnCommand } from "../../command.ts";
import { ago, timeOption } from "../../devices/times.ts";
import { number, text, texts } from "../../input.ts";
import { serviceOf, withOwnerOptions } from "../../remote/chosen-service.ts";
import { newest } from "../../remote/newest.ts";
import { table, whole } from "../../terminal/output.ts";
import { causeInWords, fieldsInWords } from "../event-words.ts";
import { explained, thingArgument } from "./thing-command.ts";

export const history: OwnCommand = {
  name: "thing history",
  meaning: "list the changes of a thing, newest last",
  examples: ["thing history t_…", "thing history t_… --from 2h --field smoke.state", "thing history t_… --json"],
  arguments: [thingArgument],
  options: (command) =>
    withOwnerOptions(command)
      .option("--field <name...>", "only changes of these fields, written as trait and field")
      .option("--from <time>", "from this time on: 15m, 2h, 2026-01-31T12:00Z")
      .option("--to <time>", "before this time")
      .option("--limit <number>", "the largest number of changes to list", "50"),
  async run(call) {
    const { typed, print } = call;
    const thingId = text(typed, "thing");
    const limit = Math.floor(number(typed, "limit", 1, 100_000));
    const question = { fields: texts(typed, "field"), from: timeOption(typed, "from"), to: timeOption(typed, "to") };
    const api = await serviceOf(call);
    const reading = api.read((sdk) => newest(limit, sdk.thingHistory(thingId, question)));
    const changes = await print.during("reading the history", reading).catch(explained(thingId));
    print.data({ thingId, changes }, () => {
      if (changes.length === 0) return "Nothing has changed in that time.";
      return table(
        [whole("TIME"), "WHAT", "FIELDS", "BY"],
        changes.map(({ updateTime, what, fields, cause }) => [
          ago(updateTime),
          what,
          fieldsInWords(fields) || "-",
          causeInWords(cause),
        ]),
        print.width,
      );
    });
  },
};
