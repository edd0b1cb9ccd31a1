import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { idByPrefix } from "../../src/cli/id-prefix.ts";
import { folderOf } from "./made-folder.ts";
import { typed } from "./typed.ts";

describe("ids and times at a terminal", () => {
  it("are shown in full or shortened, and a prefix of an id is enough", async (t) => {
    const environment = { BREEZEWAY_DATA: folderOf(t), NO_COLOR: "1" };
    const at = (args: readonly string[], columns?: number) =>
      typed(args, { environment, input: "correct horse\n", ...(columns && { columns }) });
    await at(["tenant", "add", "--name", "Example Company"]);
    await at(["user", "add", "--tenant", "1", "--name", "ada"]);
    const addresses = ["--redirect-uri", "https://voice.example/callback", "https://voice.example/b"];
    const { client_id: id } = (await at(["client", "add", "--tenant", "1", "--name", "Voice", ...addresses])).json;

    const listed = await at(["client", "list"], 80);
    assert.match(listed.out, new RegExp(`\\n${id}  .*  https://voice\\.example/callback and 1 more\\n$`));
    const shown = await at(["client", "show", id.slice(0, 12)], 60);
    assert.match(shown.out, /^client +bwc_\S{22}\n/);
    assert.match(
      shown.out,
      /\n +https:\/\/voice\.example\/b\nreturn addresses +none\n[^]*\nstate +active\ncreated +\d{4}-\d\d-\d\dT/,
    );
    assert.match((await at(["user", "list"], 80)).out, /^USER .*\n1 +ada +no +active +Example Company +\d+ s ago\n$/);
    const audit = await at(["audit", "list"], 100);
    assert.match(audit.out, new RegExp(`\\n\\d+ s ago +admin .* ${id.slice(0, 12)} .*client add name=Voice`));

    for (const [args, code, sentence] of [
      [["client", "remove", "bwc_"], 2, /bwc_ is too short for the id of a client\. Type at least 4 characters/],
      [["client", "remove", "bwc_none"], 5, /There is no client bwc_none\. See all with: breezeway client list/],
    ] as const) {
      const refused = await at(args);
      assert.equal(refused.code, code);
      assert.match(refused.err, sentence);
    }
    assert.equal((await at(["client", "remove", id.slice(0, 10)])).json.client_id, id);
  });

  it("with the same prefix are listed instead of guessed, and a complete id is never taken as a prefix", () => {
    const known = ["abcd", "abcd12", "abcd34"].map((id) => ({ id, words: `home of ${id}` }));
    assert.equal(idByPrefix("account", "abcd", known), "abcd");
    assert.equal(idByPrefix("account", "abcd1", known), "abcd12");
    const sentence = "abcd is the beginning of 2 ids. Type more of the one you mean:";
    assert.throws(() => idByPrefix("account", "abcd", known.slice(1)), {
      code: "bad_parameter",
      message: `${sentence}\n  abcd12  home of abcd12\n  abcd34  home of abcd34`,
    });
    assert.throws(() => idByPrefix("account", "x", known), /See all with: breezeway sim accounts/);
  });
});
