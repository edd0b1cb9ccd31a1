import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runCommand } from "../cli/run-command.ts";
import { operatorWorld, password } from "./operator-world.ts";

describe("a command of administrators with --service", () => {
  it("runs on a service elsewhere with an operator's token, and is audited with the operator's name", async (t) => {
    const { run, owner, service } = await operatorWorld(t);
    await owner();
    const { token } = await run("operator token make", { operator: "ada", name: "laptop" });
    const elsewhere = async (args: readonly string[], more: Record<string, string> = {}) => {
      const environment = { BREEZEWAY_OPERATOR_TOKEN: token, ...more };
      const result = await runCommand([...args, "--service", service.baseUrl, "--json"], { environment });
      assert.equal(result.stderr, "", args.join(" "));
      return result;
    };
    const added = await elsewhere(["user", "add", "--tenant", "Acme", "--name", "eve"], {
      BREEZEWAY_PASSWORD: password,
    });
    assert.deepEqual([added.code, added.stderr], [0, ""]);
    const { userId } = JSON.parse(added.stdout);
    assert.equal(JSON.parse((await elsewhere(["user", "show", String(userId)])).stdout).name, "eve");
    for (let more = 0; more < 3; more++) await run("user add", { tenant: "Acme", name: `user ${more}`, password });
    const listed = JSON.parse((await elsewhere(["user", "list"])).stdout);
    assert.deepEqual([listed.users.length, listed.cursor], [4, undefined]);
    const { entries } = JSON.parse((await elsewhere(["audit", "list", "--operator", "ada", "--limit", "1"])).stdout);
    assert.deepEqual([entries.length, entries[0].detail.command, entries[0].operator], [1, "user add", "ada"]);
    const client = ["client", "add", "--tenant", "Acme", "--name", "Voice", "--redirect-uri", "https://v.example/b"];
    const { client_id } = JSON.parse((await elsewhere([...client, "--return-url", "https://v.example/r"])).stdout);
    const edited = JSON.parse((await elsewhere(["client", "edit", client_id, "--no-return-url"])).stdout);
    assert.deepEqual(edited.return_urls, []);
    const backup = JSON.parse((await elsewhere(["backup", "--to", "today.backup"])).stdout);
    assert.match(backup.file, /backups\/today\.backup$/);
  });

  it("says what is wrong, with its exit code, and what needs the machine itself", async (t) => {
    const { run, owner, service } = await operatorWorld(t);
    await owner();
    const { token } = await run("operator token make", { operator: "ada", name: "laptop" });
    const elsewhere = (args: readonly string[], environment: Record<string, string>) =>
      runCommand([...args, "--service", service.baseUrl], { environment });
    const held = { BREEZEWAY_OPERATOR_TOKEN: token };
    const without = await elsewhere(["tenant", "list"], {});
    assert.deepEqual([without.code, /BREEZEWAY_OPERATOR_TOKEN/.test(without.stderr)], [4, true]);
    assert.equal((await elsewhere(["tenant", "list"], { BREEZEWAY_OPERATOR_TOKEN: "bwop_nonsense" })).code, 4);
    assert.equal((await elsewhere(["user", "show", "99"], held)).code, 5);
    const outside = await elsewhere(["backup", "--to", "/etc/passwd"], held);
    assert.deepEqual([outside.code, /letters, digits/.test(outside.stderr)], [2, true]);
    const withKey = await elsewhere(["backup", "--to", "x", "--with-key"], held);
    assert.match(withKey.stderr, /--with-key needs the machine of the service/);
    assert.equal((await elsewhere(["operator", "claim"], held)).code, 2);
    const sentence = "must be a status such as 404, or a class such as 4xx.";
    assert.match(
      (await elsewhere(["request", "list", "--status", "4"], held)).stderr,
      new RegExp(`--status ${sentence}`),
    );
    const refusalOf = async (path: string) => {
      const answer = await fetch(`${service.baseUrl}/admin/v1/${path}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      return ((await answer.json()) as { readonly error_description: string }).error_description;
    };
    assert.equal(await refusalOf("requests?status=4"), `status ${sentence}`);
    assert.equal(await refusalOf("users?pageSize=0"), "pageSize must be a number from 1 to 200.");
    const dead = await runCommand(["tenant", "list", "--service", "http://127.0.0.1:9"], { environment: held });
    assert.equal(dead.code, 6);
  });
});
