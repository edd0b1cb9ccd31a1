import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { readFileBytes, readFileText } from "../../src/cli/file-argument.ts";
import { readConfig } from "../../src/config/config.ts";
import { BadParameter } from "../../src/model/errors.ts";
import { startLogging } from "../../src/runtime/process/log.ts";
import { openParts } from "../../src/service/parts.ts";
import { breezeway } from "../stories/child-service.ts";
import { PlatformClient } from "../stories/platform-client.ts";
import { folderOf, running } from "./made-folder.ts";
import { runCommand } from "./run-command.ts";

describe("the commands of an administrator", () => {
  it("go to the running service, with the contents of the files that they name", async (t) => {
    const [folder, directory] = [folderOf(t), folderOf(t)];
    const service = await running(t, folder);
    const environment = { BREEZEWAY_DATA: folder };
    const runJson = async (args: readonly string[], input = "", run: typeof breezeway = runCommand) => {
      const { code, stdout, stderr } = await run(args, { environment, cwd: directory, input });
      assert.deepEqual([code, stderr], [0, ""], args.join(" "));
      return JSON.parse(stdout);
    };
    const runInDirectory = (args: readonly string[]) => runJson(args, "", breezeway);
    writeFileSync(join(directory, "logo.png"), Buffer.from("89504e470d0a1a0a", "hex"));
    writeFileSync(join(directory, "terms.txt"), "Be kind.\r\n");

    assert.deepEqual(await runJson(["tenant", "add", "--name", "Acme", "--app-id", "42"]), {
      tenantId: 42,
      name: "Acme",
    });
    const look = ["--accent", "#0b6470", "--logo", "logo.png", "--support-url", "https://help.example/"];
    await runInDirectory(["tenant", "brand", "--tenant", "Acme", ...look]);
    await runInDirectory(["tenant", "terms", "--tenant", "Acme", "--file", "terms.txt", "--version", "3"]);
    const { terms, ...shown } = await runJson(["tenant", "show", "--tenant", "42"]);
    assert.deepEqual([terms.text, terms.version], ["Be kind.", "3"]);
    assert.deepEqual(shown, {
      tenantId: 42,
      name: "Acme",
      accent: "#0b6470",
      supportUrl: "https://help.example/",
      logo: { type: "image/png", bytes: 8 },
    });

    const addresses = ["https://voice.example/a", "https://voice.example/b"];
    const redirects = addresses.flatMap((address) => ["--redirect-uri", address]);
    const added = await runJson(["client", "add", "--tenant", "Acme", "--name", "Voice", ...redirects]);
    assert.deepEqual(Object.keys(added), ["client_id", "client_secret"]);
    const { clients } = await runJson(["client", "list"]);
    assert.deepEqual([clients[0].client_id, clients[0].redirect_uris], [added.client_id, addresses]);

    await runJson(["user", "add", "--tenant", "Acme", "--name", "ada"], "correct horse\n");
    const [ada] = (await runJson(["user", "list", "--tenant", "Acme"])).users;
    await runJson(["user", "set-password", "--user", String(ada.userId)], "battery staple\n");
    const client = new PlatformClient(() => service.baseUrl);
    await client.login("ada", "battery staple", 42);

    const { entries } = await runJson(["audit", "list", "--limit", "3", "--tenant", "Acme"]);
    assert.deepEqual(
      entries.map(({ act, userId, source }: Record<string, unknown>) => [act, userId, source]),
      [
        ["sign_in", ada.userId, "127.0.0.1"],
        ["admin", ada.userId, "command"],
        ["password_changed", ada.userId, "command"],
      ],
    );
    assert.match(entries[0].time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it("find a user by id or by the whole name, and never one of another tenant than the typed one", async (t) => {
    const config = readConfig({ flags: {}, environment: { BREEZEWAY_DATA: folderOf(t) } });
    const parts = await openParts(config, startLogging("silent"));
    t.after(() => parts.close());
    // biome-ignore lint/suspicious/noExplicitAny: each command has its own answer
    const run = (command: string, input: object): Promise<any> => parts.administration.run(command, input);
    const tenantIds = [await run("tenant add", { name: "Acme" }), await run("tenant add", { name: "Other" })];
    const [acme, other] = tenantIds.map(({ tenantId }) => tenantId);
    const names = [...Array.from({ length: 100 }, (_, at) => `joann ${at}`), "ann", "Zo\u00eb"];
    const ada = await parts.store.transaction(async (tx) => {
      const same = { passwordHash: "none", isAdmin: false };
      for (const name of [...names, "both"]) await tx.users.add({ ...same, tenantId: other, name });
      await tx.users.add({ ...same, tenantId: acme, name: "both" });
      return tx.users.add({ ...same, tenantId: acme, name: "ada" });
    });
    const foreign = { user: String(ada), tenant: "Other" };
    for (const command of ["user show", "user set-password"]) {
      await assert.rejects(
        run(command, { ...foreign, password: "correct horse" }),
        /User \d+ belongs to another tenant\. See: breezeway user list --tenant Other/,
        command,
      );
    }
    assert.equal((await parts.store.read((tx) => tx.users.byId(ada!)))?.passwordHash, "none");
    assert.equal((await run("user show", { ...foreign, tenant: "Acme" })).name, "ada");
    assert.equal((await run("user show", { user: "ann" })).name, "ann");
    assert.equal((await run("user show", { user: "Zoe\u0308" })).name, "Zo\u00eb");
    await assert.rejects(run("user show", { user: "both" }), /Several users have this name/);
    assert.equal((await run("user show", { user: "both", tenant: "Acme" })).tenant, "Acme");
  });

  it("say what is wrong with a file, and name the option", async (t) => {
    const folder = folderOf(t);
    writeFileSync(join(folder, "empty"), "");
    writeFileSync(join(folder, "bytes"), Buffer.from([0xff, 0xfe, 0xfd]));
    writeFileSync(join(folder, "large"), Buffer.alloc(1024 * 1024 + 1));
    const wrong: readonly (readonly [() => unknown, RegExp])[] = [
      [() => readFileBytes("logo", join(folder, "nowhere.png")), /^--logo: there is no such file\.$/],
      [() => readFileBytes("logo", folder), /^--logo: that is a folder, not a file\.$/],
      [() => readFileBytes("logo", join(folder, "large")), /^--logo: the file is too large\.$/],
      [() => readFileText("file", join(folder, "empty")), /^--file: the file is empty\.$/],
      [() => readFileText("file", join(folder, "bytes")), /^--file: the file is not text in UTF-8\.$/],
    ];
    for (const [read, sentence] of wrong) {
      assert.throws(read, (error: unknown) => error instanceof BadParameter && sentence.test(error.message));
    }
    const brand = ["tenant", "brand", "--tenant", "Acme", "--logo", "nowhere.png"];
    const { code, stderr } = await runCommand(brand, { environment: { BREEZEWAY_DATA: folder } });
    assert.deepEqual([code, stderr], [2, "breezeway: --logo: there is no such file.\n"]);
  });

  it("have help that shows their arguments, and --version stays that of the program", async () => {
    const { code, stdout } = await runCommand(["tenant", "terms", "--help"]);
    assert.equal(code, 0);
    assert.match(stdout, /--version <text>/);
    assert.match(stdout, /Settings .*:\n {2}--data/);
    assert.doesNotMatch(stdout, /--port/);
    assert.match(
      (await breezeway(["--version"])).stdout,
      /^\d+\.\d+\.\d+ \(commit ([0-9a-f]{8}|unknown), schema \d+\)\n$/,
    );
  });
});
