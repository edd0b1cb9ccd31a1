import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { world } from "../stories/world.ts";
import { folderOf } from "./made-folder.ts";
import { typed } from "./typed.ts";

type Mistake = readonly [args: readonly string[], code: number, sentence: RegExp];

describe("a mistake in a command", () => {
  it("is reported in the terms of the command line, with a running service", async (t) => {
    const story = await world(t);
    const [deviceId, user] = [String(await story.link()), String(story.userId)];
    const environment = { BREEZEWAY_DATA: story.config.dataFolder };
    const mistakes: readonly Mistake[] = [
      [["device", "add", "--user", user, "--name", "x", "--type", "EcosystemAccount"], 2, /is for linked accounts/],
      [["event", "list", deviceId, "--attribute", "colour"], 5, /Device 1 has no attribute colour\./],
      [["event", "watch", "--device", "lamp"], 2, /--device must be a number/],
      [["webhook", "add", "http://127.0.0.1:9/", "--device", "lamp"], 2, /--device must be a number/],
      [["webhook", "add", "hooks"], 2, /The webhook's address must be an https address/],
      [
        ["user", "show", "nobody"],
        2,
        /No user has this name\. Name the user by id: breezeway user list shows the ids\./,
      ],
      [["home", "show"], 2, /missing required argument 'user'/],
      [
        ["home", "command"],
        2,
        /required options '--user <id>', '--thing <id>', '--trait <name>', '--command <name>' not/,
      ],
      // Without a password on standard input: the command would ask for it only after these checks.
      [["user", "add", "--tenant", "Nobody", "--name", "bob"], 5, /There is no tenant Nobody\./],
      [["user", "set-password", "99"], 5, /There is no user 99\./],
    ];
    for (const [args, code, sentence] of mistakes) {
      const result = await typed(args, { environment });
      assert.deepEqual([result.code, result.out], [code, ""], args.join(" "));
      assert.match(result.err, sentence);
    }
    const none = await typed(["device", "list", "--type", "Lamp"], { environment, columns: 80 });
    assert.match(none.out, /^There are no such devices\./);
    const elsewhere = { BREEZEWAY_SEC_TOKEN: "wrong", BREEZEWAY_URL: story.service.baseUrl };
    assert.match((await typed(["link", "show"], { environment: elsewhere })).err, /Set a new BREEZEWAY_SEC_TOKEN\.\n$/);
  });

  it("is none where the only user or home is meant", async (t) => {
    const story = await world(t);
    const [deviceId, user] = [await story.link(), String(story.userId)];
    const environment = { BREEZEWAY_DATA: story.config.dataFolder };
    const at = (...args: string[]) => typed(args, { environment });
    assert.equal((await at("user", "show", "ada")).json.userId, story.userId);
    assert.equal((await at("home", "show", "--user", user)).json.link.deviceId, deviceId);
    assert.deepEqual((await at("home", "list")).json, (await at("link", "list")).json);
    const { identity } = story.service.parts;
    await identity.addTenant({ name: "Other" });
    const userId = await identity.addUser({ tenant: "Other", name: "ada", password: "correct horse", isAdmin: false });
    const several = await at("user", "show", "ada");
    assert.deepEqual([several.code, several.err.includes("Several users have this name.")], [2, true]);
    assert.equal((await at("user", "show", "ada", "--tenant", "Other")).json.userId, userId);
    const unlinked = await at("home", "show", "--user", String(userId));
    assert.deepEqual([unlinked.code, unlinked.err.includes("The user has no connected home.")], [5, true]);
  });

  it("is found before anything is started", async (t) => {
    const environment = { BREEZEWAY_DATA: folderOf(t) };
    const mistakes: readonly Mistake[] = [
      [["simulator", "--port", "x"], 2, /--port must be a port from 0 to 65535\./],
      [["serve", "--port", "x"], 3, / - --port must be a port from 0 to 65535\./],
    ];
    for (const [args, code, sentence] of mistakes) {
      const result = await typed(args, { environment });
      assert.equal(result.code, code, args.join(" "));
      assert.match(result.err, sentence);
    }
    const unlike = await typed(["status"], { environment: { ...environment, BREEZEWAY_FOO: "1" } });
    assert.match(unlike.err, /BREEZEWAY_FOO is not a setting\. See all with: breezeway config print/);
  });
});
