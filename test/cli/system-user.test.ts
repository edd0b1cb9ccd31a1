import assert from "node:assert/strict";
import { userInfo } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { readSystemUser } from "../../src/runtime/process/system-user.ts";
import { breezeway, startChild } from "../stories/child-service.ts";
import { folderOf } from "./made-folder.ts";

const { username } = userInfo();

describe("the audit log, for commands on the machine", () => {
  it("names the process's user, and who called sudo, with and without a running service", async (t) => {
    const environment = { BREEZEWAY_DATA: join(folderOf(t), "data"), SUDO_USER: "grace" };
    assert.equal((await breezeway(["tenant", "add", "--name", "Acme"], { environment })).code, 0);
    const service = await startChild("serve", { ...environment, BREEZEWAY_PORT: "0" });
    t.after(() => service.process.kill("SIGKILL"));
    const added = await breezeway(["tenant", "add", "--name", "Other"], {
      environment: { ...environment, SUDO_USER: "" },
    });
    assert.equal(added.code, 0, added.stderr);
    const { stdout } = await breezeway(["audit", "list", "--json"], { environment });
    const { entries } = JSON.parse(stdout);
    const users = entries.map(({ detail }: { readonly detail: Record<string, unknown> }) => [
      detail.name,
      detail.systemUser,
      detail.sudoUser,
    ]);
    assert.deepEqual(users, [
      ["Other", username, undefined],
      ["Acme", username, "grace"],
    ]);
  });

  it("takes no text that is no name of a user", () => {
    for (const systemUser of ["", "a\nb", "x".repeat(65), "\u202eroot", 7, undefined]) {
      assert.equal(readSystemUser({ systemUser }), undefined);
    }
    assert.deepEqual(readSystemUser({ systemUser: "root", sudoUser: "a\u0000" }), { systemUser: "root" });
    assert.deepEqual(readSystemUser({ systemUser: "root", sudoUser: "root" }), { systemUser: "root" });
  });
});
