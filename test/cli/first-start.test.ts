import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { breezeway, startChild, takenPort } from "../stories/child-service.ts";
import { folderOf } from "./made-folder.ts";

describe("the first start of a service", () => {
  it("leaves no folder behind when its port is taken", async (t) => {
    const data = join(folderOf(t), "new");
    const port = String(await takenPort(t));
    const { code, stderr } = await breezeway(["serve", "--data", data, "--port", port]);
    assert.equal(code, 7);
    assert.equal(
      stderr,
      `breezeway: Port ${port} on 127.0.0.1 is taken. Stop what uses it, or choose another with BREEZEWAY_PORT.\n`,
    );
    assert.equal(existsSync(data), false);
  });

  it("says that users can't link homes, if a service at a public address has the simulator alone", async (t) => {
    const sentence =
      "Only the simulator's address is configured, http://127.0.0.1:8090: users can't link homes on pages";
    for (const [baseUrl, isSaid] of [
      ["https://home.example", true],
      ["http://127.0.0.1:9", false],
    ] as const) {
      const environment = { BREEZEWAY_DATA: folderOf(t), BREEZEWAY_PORT: "0", BREEZEWAY_BASE_URL: baseUrl };
      const service = await startChild("serve", environment);
      t.after(() => service.process.kill("SIGKILL"));
      assert.equal(service.output.includes(sentence), isSaid, service.output);
    }
  });
});
