import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it, type TestContext } from "node:test";
import type { DeviceId } from "../../src/model/ids.ts";
import { clientOfUser } from "../stories/v3-client.ts";
import { eventually, person, world } from "../stories/world.ts";
import { startCommand } from "./long-running-command.ts";
import { type CommandContext, typed } from "./typed.ts";

const plain = { NO_COLOR: "1" };

/** A linked home, a lamp of the same user, and an administrator of the machine. */
async function home(t: TestContext, structures = [{ name: "Maple Street", thermostats: 2, alarms: 1 }]) {
  const story = await world(t, { structures, allowsPrivateWebhooks: true });
  const deviceId = await story.link();
  await eventually(t.signal, async () => assert.equal((await story.client.device(deviceId)).presenceInfo, "1"));
  const lampId = await story.addLamp("Hall lamp");
  const environment = { BREEZEWAY_DATA: story.config.dataFolder, ...plain };
  const at = (args: readonly string[], context: CommandContext = {}) =>
    typed(args, { ...context, environment: { ...environment, ...context.environment } });
  return { story, deviceId: String(deviceId), lampId: String(lampId), at };
}

/** The number of rows of clients, grants, tokens and sign-ins. */
function credentialsIn(folder: string): Record<string, number> {
  const database = new DatabaseSync(join(folder, "breezeway.db"), { readOnly: true });
  const count = (table: string) => Number(database.prepare(`SELECT COUNT(*) AS count FROM ${table}`).get()!.count);
  try {
    return Object.fromEntries(
      ["clients", "grants", "access_tokens", "sec_tokens"].map((table) => [table, count(table)]),
    );
  } finally {
    database.close();
  }
}

describe("the commands about a home, on the machine of its service", () => {
  it("list, show and write devices, by attribute names and by the names of a home", async (t) => {
    const { at, deviceId, lampId, story } = await home(t);
    const listed = await at(["devices", "list"]);
    assert.deepEqual(
      listed.json.devices.map((one: Record<string, unknown>) => [one.deviceId, one.userName]),
      [
        [Number(deviceId), "ada"],
        [Number(lampId), "ada"],
      ],
    );
    assert.deepEqual((await at(["device", "set", lampId, "power=on", "level=80"])).json.written, {
      power: "on",
      level: "80",
    });
    assert.equal((await at(["device", "set", lampId, "level="])).code, 0);
    const lamp = (await at(["device", "get", lampId])).json;
    assert.deepEqual(Object.keys(lamp.attributes), ["power"]);

    const away = await at(["device", "show", deviceId, "Maple Street/away"]);
    assert.deepEqual(Object.keys(away.json.attributes), ["d.structures[1].a.away"]);
    const whole = await at(["device", "get", deviceId], { columns: 100 });
    assert.match(whole.out, /^Nest account {2}device 1 · EcosystemAccount · present · confirmed \d+ s ago\n/);
    assert.match(whole.out, /\nMaple Street › .* {2}d\.structures\[1\]\.d\.thermostats\[2\]\n/);
    assert.match(whole.out, /\n {2}away {2,}home {2,}\d+ s ago\n/);
    for (const line of whole.out.split("\n")) assert.ok(line.length <= 100, line);

    const none = await at(["device", "get", deviceId, "Attic"]);
    assert.equal(none.code, 5);
    assert.match(none.err, /nothing called "Attic"\. See all with: breezeway device get 1\n$/);
    const readOnly = await at(["device", "set", deviceId, "Maple Street/away=home"]);
    assert.equal(readOnly.code, 2);
    assert.match(readOnly.err, /read-only/);
    const misplaced = await at(["device", "set", lampId, "Hallway/power=off"]);
    assert.equal(misplaced.code, 2);
    assert.match(
      misplaced.err,
      /device 2 \(Hall lamp\) is an ordinary device .*Nothing was written\. .* as in power=…\n$/,
    );
    assert.deepEqual(Object.keys((await at(["device", "get", lampId])).json.attributes), ["power"]);
    const misspelt = await at(["device", "set", deviceId, "d.structures[1].a.awy=home"]);
    assert.match(
      misspelt.err,
      /^breezeway: Device 1 has no attribute d\.structures\[1\]\.a\.awy\. Nothing was written\.\n$/,
    );
    const absent = await at(["device", "get", "999"]);
    assert.deepEqual([absent.code, absent.out], [5, ""]);
    assert.match(absent.err, /no device 999\. See all with: breezeway device list/);
    assert.match((await at(["device", "remove", deviceId])).err, /breezeway link remove --user 1/);
    assert.equal((await at(["device", "remove", lampId])).code, 0);
    assert.equal((await at(["user", "show", String(story.userId)])).json.devices.length, 1);
  });

  it("leave no client and no token behind, unless they add something that a client owns", async (t) => {
    const { at, deviceId, lampId, story } = await home(t);
    const before = credentialsIn(story.config.dataFolder);
    const commands = [
      ["device", "get", deviceId],
      ["device", "set", lampId, "power=on"],
      ["event", "list", lampId],
      ["alert", "list"],
      ["webhook", "list"],
      ["link", "show"],
    ];
    for (const command of commands) assert.equal((await at(command)).code, 0, command.join(" "));
    assert.deepEqual(credentialsIn(story.config.dataFolder), before);
    assert.deepEqual((await at(["client", "list"])).json.clients, []);
    const audited = (await story.service.parts.identity.audit.list({ limit: 100 })).filter(
      ({ detail }) => detail.command === "access",
    );
    assert.deepEqual(
      audited.map(({ detail }) => detail.for),
      ["user", "tenant"],
      "one entry for all commands of a tenant, and one for each act in the name of a user",
    );
    assert.equal((await at(["webhook", "add", "http://127.0.0.1:9/hook"])).code, 0);
    const { clients } = (await at(["client", "list"])).json;
    assert.deepEqual(
      clients.map(({ name, kind }: Record<string, string>) => [name, kind]),
      [["Command line", "enterprise"]],
    );
    assert.equal((await at(["webhook", "list"])).json.webhooks.length, 1);
  });

  it("sign the user's security token out, also at Ctrl-C", async (t) => {
    const { story } = await home(t);
    const { config, simulator, accountId } = story;
    const before = credentialsIn(config.dataFolder);
    simulator.addFault({ fault: "slow", ms: 600_000 });
    const environment = {
      BREEZEWAY_DATA: config.dataFolder,
      BREEZEWAY_ECOSYSTEM_TOKEN: simulator.issueToken(accountId),
    };
    const { child, ended } = startCommand(t, ["link"], environment);
    await eventually(t.signal, async () => {
      assert.equal(credentialsIn(config.dataFolder).sec_tokens, before.sec_tokens! + 1);
    });
    child.kill("SIGINT");
    assert.equal((await ended).code, 130);
    // On a busy machine the command may end before the service has carried its last call out.
    await eventually(t.signal, async () => assert.deepEqual(credentialsIn(config.dataFolder), before));
  });

  it("start a fan and report the outcome", async (t) => {
    const { at, deviceId, story } = await home(t);
    const several = await at(["fan", "on", deviceId]);
    assert.equal(several.code, 2);
    assert.match(several.err, /There are 2 thermostats\. Name one:\n {2}1\.1 {2}Maple Street › /);
    const ran = await at(["fan", "on", deviceId, "1.2"]);
    assert.deepEqual([ran.code, ran.json.outcome], [0, "running"], ran.err);
    const again = await at(["fan", "on", deviceId, "1.2"]);
    assert.deepEqual([again.code, again.json.outcome], [0, "running"], "a fan that runs already");
    assert.match((await at(["fan", "off", deviceId, "1.2"], { columns: 100 })).out, /is off\.\n$/);
    await story.simulator.playScene(story.accountId, { scene: "leave" });
    const isAway = async () => {
      assert.match((await at(["device", "get", deviceId, "away"])).out, /"value":"away"/);
    };
    await eventually(t.signal, isAway);
    const refused = await at(["fan", "on", deviceId, "1.1"]);
    assert.deepEqual([refused.code, refused.out], [1, ""]);
    assert.match(
      refused.err,
      /was not switched: Cannot change fan_timer_active while structure is away\. See: breezeway/,
    );
    assert.equal((await at(["fan", "on", deviceId, "9.9"])).code, 5);
  });

  it("add, explain, try and remove alerts", async (t) => {
    const { at, deviceId, lampId, story } = await home(t);
    const definition = ["--device", deviceId, "--attribute", "d.structures[1].a.away", "--value", "home"];
    const added = await at(["alert", "add", ...definition, "--set", `${lampId},power=on`, "--auto-disarm"]);
    assert.equal(added.code, 0, added.err);
    const id = String(added.json.alertId);
    const shown = await at(["alerts", "list"], { columns: 200 });
    assert.match(shown.out, /^ALERT +STATE +FIRED +WHAT\n/);
    assert.match(
      shown.out,
      /armed +never +When device 1 › d\.structures\[1\]\.a\.away equals "home", set device 2 › power/,
    );
    assert.deepEqual((await at(["alert", "disable", id])).json.enable, false);
    assert.match((await at(["alert", "explain", id], { columns: 80 })).out, /It is disabled\./);
    assert.deepEqual((await at(["alert", "enable", id])).json.enable, true);
    assert.equal((await at(["alert", "show", id])).json.targets[0].value, "on");
    const tried = await at(["alert", "dry-run", ...definition, "--action", "notify", "--from", "1h"]);
    assert.equal(tried.json.firings.length, 1);
    assert.equal((await at(["alert", "remove", id])).code, 0);
    assert.equal((await at(["alert", "remove", id])).code, 5);
    const wrong: readonly (readonly [readonly string[], RegExp])[] = [
      [["--set", "power=on"], /--set power=on: it should be id,name=value/],
      [[], /Say what a firing does/],
      [["--set", `${lampId},power=on`, "--when", ">="], /--value must be a number with --when ">="/],
    ];
    for (const [words, sentence] of wrong) {
      const { code, err } = await at(["alert", "add", ...definition, ...words]);
      assert.equal(code, 2);
      assert.match(err, sentence);
    }
    const { identity, administration } = story.service.parts;
    const bob = await identity.addUser({ ...person, tenant: "Story", name: "bob", isAdmin: false });
    const ofBob = { user: String(bob), name: "Lamp", type: "Lamp" };
    const other = (await administration.run("device add", ofBob)) as { deviceId: DeviceId };
    const absent: readonly (readonly [readonly string[], RegExp])[] = [
      [["--set", "777,power=on"], /There is no device 777\. Nothing was changed\./],
      [
        ["--set", `${other.deviceId},power=on`],
        /Device 1 and the devices that --set names \(3\) have different owners/,
      ],
      [["--set", `${deviceId},power=on`], /Device 1 \(Nest account\) has no attribute power\. Nothing was changed\./],
      [["--action", "notify", "--attribute", "Attic/away"], /Device 1 \(Nest account\) has no attribute Attic\/away\./],
    ];
    for (const [words, sentence] of absent) {
      const { code, err } = await at(["alert", "add", ...definition, ...words]);
      assert.equal(code, 5);
      assert.match(err, sentence);
    }
  });

  it("list events, and resend a webhook's message", async (t) => {
    const { at, lampId } = await home(t);
    const hook = await at(["webhook", "add", "http://127.0.0.1:9/hook", "--device", lampId, "--link-sessions"]);
    assert.equal(hook.json.linkSessions, true);
    const id = hook.json.webhookId;
    assert.match((await at(["webhook", "show", id], { columns: 100 })).out, /\nlink sessions +yes\n/);
    assert.match(hook.json.secret, /^whsec_/);
    for (const value of ["on", "off"]) await at(["device", "set", lampId, `power=${value}`]);
    const { changes } = (await at(["event", "list", lampId, "--limit", "1"])).json;
    assert.deepEqual([changes.length, changes[0].value], [1, "off"]);
    assert.match((await at(["events", "list", lampId], { columns: 90 })).out, /\nTIME|^TIME +ATTRIBUTE +VALUE +BY\n/);
    let delivery = 0;
    await eventually(t.signal, async () => {
      const { deliveries } = (await at(["webhook", "show", id.slice(0, 9)])).json;
      delivery = deliveries.at(-1).deliveryId;
    });
    const again = await at(["events", "resend", id, String(delivery)]);
    assert.ok(again.json.deliveryId > delivery);
    assert.equal((await at(["event", "resend", id, "999999"])).code, 5);
    assert.equal((await at(["webhooks", "list"])).json.webhooks.length, 1);
    assert.equal((await at(["webhook", "remove", id])).code, 0);
    assert.equal((await at(["webhook", "show", id])).code, 5);
    assert.match((await at(["event", "list", lampId, "--from", "soon"])).err, /--from must be a time such as/);
  });

  it("link with a token or with the owner's consent, replace it, and unlink", async (t) => {
    const { at, story } = await home(t);
    const { simulator, accountId, userId } = story;
    assert.equal((await at(["link", "list"])).json.links[0].state, "live");
    const replaced = await at(["link"], { input: `${simulator.issueToken(accountId)}\n` });
    assert.deepEqual([replaced.code, replaced.json.replaced], [0, true], replaced.err);
    const refused = await at(["link", "--user", String(userId)], { input: "no-such-token\n" });
    assert.equal(refused.code, 4, "the token was refused; nothing was typed wrongly");
    assert.match(
      refused.err,
      /^breezeway: nest refused the token: .*\. Nothing was changed\. Get a new token of the account, or ask its owner in a browser: breezeway link --consent\n$/,
    );
    assert.equal((await at(["link", "remove"])).json.tokenRevoked, true);
    assert.equal((await at(["link", "show"])).code, 5);
    assert.match(
      (await at(["link"])).err,
      /token is missing\. Pipe it in, set BREEZEWAY_ECOSYSTEM_TOKEN, or use --consent/,
    );

    const { clientId, clientSecret } = simulator.defaultClient;
    const nest = {
      protocol: "nest",
      apiUrl: simulator.url,
      authUrl: `${simulator.url}/login/oauth2`,
      tokenUrl: `${simulator.url}/oauth2/access_token`,
      clientId,
      clientSecret,
    };
    const environment = { BREEZEWAY_ECOSYSTEMS: JSON.stringify({ nest }) };
    const inBrowser = (decision: string) => (text: string) => {
      const [address] = /http:\S+/.exec(text) ?? [];
      if (!address) return;
      const { origin, pathname, searchParams } = new URL(address);
      const body = new URLSearchParams([...searchParams, ["decision", decision]]);
      void fetch(origin + pathname, { method: "POST", body });
    };
    for (const [words, sentence, code] of [
      [["--user", "999"], /There is no user 999\./, 5],
      [["--ecosystem", "hearth"], /There is no ecosystem of that name\./, 2],
    ] as const) {
      const early = await at(["link", "--consent", ...words], { environment });
      assert.deepEqual([early.code, early.err.includes("Open this address")], [code, false]);
      assert.match(early.err, sentence);
    }
    const denied = await at(["link", "--consent"], { environment, onError: inBrowser("deny") });
    assert.equal(denied.code, 4);
    assert.match(
      denied.err,
      /^Open this address in a browser, and give your consent there\. This command waits 10 minutes for it/,
    );
    assert.match(denied.err, /The account's owner declined\. Nothing was connected\.\n$/);
    const linked = await at(["link", "--consent"], { environment, onError: inBrowser("allow") });
    assert.deepEqual([linked.code, linked.json.replaced], [0, false], linked.err);
    assert.ok(!denied.err.includes(clientSecret) && !linked.err.includes(clientSecret));
  });
});

describe("the commands about a home, on a machine with several nodes", () => {
  it("get access through the database, and call the service's address", async (t) => {
    const story = await world(t, { database: "postgres" });
    const deviceId = String(await story.link());
    const environment = {
      BREEZEWAY_DATABASE_URL: story.config.databaseUrl,
      BREEZEWAY_DATA: story.config.dataFolder,
      BREEZEWAY_BASE_URL: story.service.baseUrl,
    };
    const got = await typed(["device", "get", deviceId, "o.totalStructures"], { environment });
    assert.deepEqual([got.code, got.json.attributes["o.totalStructures"]?.value], [0, 1], got.err);
    assert.equal((await typed(["link", "show"], { environment })).json.DeviceId, deviceId);
    assert.equal((await typed(["doctor"], { environment })).json.checks[7].state, "ok");
  });

  it("print the whole address of a claim link, also without the node's base URL", async (t) => {
    const { config, service } = await world(t, { database: "postgres" });
    const environment = { BREEZEWAY_DATABASE_URL: config.databaseUrl, BREEZEWAY_DATA: config.dataFolder };
    const { url, path } = (await typed(["operator", "claim"], { environment })).json;
    assert.equal(url, `${service.baseUrl}${path}`);
  });
});

describe("the commands about a home, from another machine", () => {
  it("take an address and a token, and say which of them is wrong", async (t) => {
    const story = await world(t);
    const { accessToken } = await clientOfUser(() => story.service, "Story", person);
    const { baseUrl } = story.service;
    const deviceId = await story.addLamp();
    const withToken = (BREEZEWAY_TOKEN: string | undefined, ...args: string[]) =>
      typed(args, { environment: { BREEZEWAY_TOKEN, BREEZEWAY_DATA: "/nowhere" } });
    assert.equal((await withToken(accessToken, "device", "list", "--url", baseUrl)).json.devices.length, 1);
    const byVariable = { BREEZEWAY_URL: `${baseUrl}/`, BREEZEWAY_TOKEN: accessToken };
    assert.equal((await typed(["device", "get", String(deviceId)], { environment: byVariable })).code, 0);
    const bad = await withToken("bwa_wrong", "device", "list", "--url", baseUrl);
    assert.equal(bad.code, 4);
    assert.doesNotMatch(bad.err, /bwa_wrong/);
    const none = await withToken(undefined, "device", "list", "--url", baseUrl);
    assert.equal(none.code, 4);
    assert.match(none.err, /no access token for .*Set BREEZEWAY_TOKEN, or save one: breezeway profile add NAME/);
    const nobody = await withToken(accessToken, "device", "list", "--url", "http://127.0.0.1:9");
    assert.equal(nobody.code, 6);
    assert.match(nobody.err, /Nothing answers at http:\/\/127\.0\.0\.1:9 .*breezeway doctor/);
    const clear = await withToken(accessToken, "device", "list", "--url", "http://breezeway.example");
    assert.equal(clear.code, 3);
    assert.match(clear.err, /would be sent unencrypted/);
    assert.equal((await withToken(accessToken, "device", "get", "999", "--url", baseUrl)).code, 5);
    assert.equal((await withToken(accessToken, "device", "list", "--url", "breezeway")).code, 2);
    const asleep = await typed(["device", "get", "1"], { environment: { BREEZEWAY_DATA: "/nowhere" } });
    assert.equal(asleep.code, 6);
    assert.match(asleep.err, /No service runs on \/nowhere\. Start one with: breezeway serve/);
  });
});
