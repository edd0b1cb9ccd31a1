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
      [["user", "show", "ada"], 2, /The user's id must be a number/],
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
