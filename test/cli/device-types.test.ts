import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { traitMapTemplates } from "../../src/home/trait-map-templates.ts";
import { world } from "../stories/world.ts";
import { folderOf } from "./made-folder.ts";
import { type CommandContext, typed } from "./typed.ts";

describe("the commands about device types", () => {
  it("set a trait map from a template or a file, show it, list it and remove it", async (t) => {
    const { config, addLamp } = await world(t);
    await addLamp("Hall lamp");
    const environment = { BREEZEWAY_DATA: config.dataFolder, NO_COLOR: "1" };
    const at = (args: readonly string[], context: CommandContext = {}) => typed(args, { ...context, environment });
    const type = (...args: string[]) => at(["device-type", ...args, "--tenant", "Story"]);
    const typeOnTerminal = (...args: string[]) => at(["device-type", ...args, "--tenant", "Story"], { columns: 120 });
    const kinds = async () =>
      (await at(["thing", "list"])).json.things.map(({ kind, name }: Record<string, string>) => [kind, name]);

    assert.match((await typeOnTerminal("list")).out, /^There are no trait maps\./);
    assert.deepEqual(await kinds(), []);
    const set = await type("set", "Lamp", "--template", "lamp");
    assert.deepEqual([set.code, set.json.name, set.json.map], [0, "Lamp", traitMapTemplates.lamp]);
    assert.deepEqual(await kinds(), [["light", "Hall lamp"]]);

    const file = join(folderOf(t), "plug.json");
    writeFileSync(file, JSON.stringify(traitMapTemplates.plug));
    assert.equal((await type("set", "Lamp", "--file", file)).code, 0);
    assert.deepEqual(await kinds(), [["switch", "Hall lamp"]]);
    assert.deepEqual(JSON.parse((await typeOnTerminal("show", "Lamp")).out), traitMapTemplates.plug);
    assert.match((await typeOnTerminal("list")).out, /^TYPE +KIND +TRAITS\nLamp +switch +onOff\n$/);

    assert.equal((await type("remove", "Lamp")).code, 0);
    assert.deepEqual([await kinds(), (await type("list")).json.deviceTypes], [[], []]);
    const { entries } = (await at(["audit", "list", "--limit", "3", "--tenant", "Story"])).json;
    assert.deepEqual(
      entries.map(({ detail }: { readonly detail: { readonly type?: string } }) => detail.type),
      ["Lamp", "Lamp", "Lamp"],
    );
  });

  it("refuse an unknown template, two maps at once, a map that can't be used and an unknown type", async (t) => {
    const { config } = await world(t);
    const environment = { BREEZEWAY_DATA: config.dataFolder };
    const type = (...args: string[]) => typed(["device-type", ...args, "--tenant", "Story"], { environment });
    const file = join(folderOf(t), "map.json");
    writeFileSync(file, JSON.stringify({ ...traitMapTemplates.lamp, kind: "ghost" }));
    const cases: readonly (readonly [args: readonly string[], code: number, words: RegExp])[] = [
      [["set", "Lamp", "--template", "ghost"], 2, /lamp, dimmer, plug/],
      [["set", "Lamp", "--template", "lamp", "--file", file], 2, /either --file or --template/],
      [["set", "Lamp"], 2, /either --file or --template/],
      [["set", "Lamp", "--file", file], 2, /kind/],
      [["show", "Lamp"], 5, /no device type of this name/],
      [["remove", "Lamp"], 5, /no device type of this name/],
    ];
    for (const [args, code, words] of cases) {
      const refused = await type(...args);
      assert.equal(refused.code, code, `${args.join(" ")}: ${refused.err}`);
      assert.match(refused.err, words);
    }
    assert.deepEqual((await type("list")).json.deviceTypes, []);
  });
});
