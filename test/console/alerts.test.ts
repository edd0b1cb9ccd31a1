import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { browserOfFile, skip } from "../browser/world.ts";
import type { OperatorBrowser } from "../operators/operator-browser.ts";
import { hostileName, pageText } from "./administration-world.ts";
import { consoleWorld } from "./console-world.ts";
import { operatorTab } from "./operator-tab.ts";

const browser = browserOfFile();

const act = (operator: OperatorBrowser, command: string, input: Readonly<Record<string, string>>) =>
  operator.send("/console/do", { act: command, to: "/console/alerts", ...input });

describe("the pages of alerts", () => {
  it("write an alert as a sentence, and show each mistake beside its field", async (t) => {
    const { house, run, owner, invited } = await consoleWorld(t);
    await run("tenant add", { name: "Other" });
    const operator = await owner();
    const user = String(house.userId);
    const lamp = String(await house.addLamp(hostileName));
    assert.match(await pageText(operator, "/alerts"), /template=away.*template=home/s);
    assert.match(await pageText(operator, "/alerts/new?template=away"), /template=away&amp;user=/);
    const { things } = await run("home things", { user });
    const home = things.find((one: { kind: string }) => one.kind === "home").thingId;
    const template = await pageText(operator, `/alerts/new?user=${user}&template=away`);
    assert.match(template, new RegExp(`<option value="${home}" selected>`));
    assert.match(template, /value="presence.state"[^>]* selected/);
    assert.ok(template.includes("&lt;b&gt;Voice") && !template.includes("<b>Voice"));

    const page = (draft: Readonly<Record<string, string>>) =>
      pageText(operator, `/alerts/new?${new URLSearchParams({ user, check: "1", ...draft })}`);
    const wrongAt = async (field: string, draft: Readonly<Record<string, string>>, sentence: RegExp) => {
      const text = await page(draft);
      assert.match(text, new RegExp(`id="alert-${field}"[^>]*aria-invalid="true"`), field);
      assert.match(/id="alert-[\w-]+-wrong"[^>]*>.*?<span>(.*?)<\/span>/s.exec(text)?.[1] ?? "", sentence);
      assert.ok(!text.includes("Make this alert"));
    };
    const watched = { watch: home, field: "presence.state" };
    await wrongAt("watch", {}, /Choose what/);
    await wrongAt("field", { watch: home }, /Choose a field/);
    await wrongAt("value", watched, /Say with which value/);
    await wrongAt("value", { ...watched, value: "gone" }, /one of these values/);
    await wrongAt("when", { ...watched, value: "1", when: ">" }, /is not a number/);
    await wrongAt("value", { ...watched, value: "(", when: "regex" }, /RE2/);
    await wrongAt("command", { ...watched, value: "away", does: "command" }, /Choose a command/);
    const writes = { ...watched, value: "away", does: "set", "set-device": lamp };
    await wrongAt("set-attribute", writes, /Name the attribute/);
    const right = await page({ ...writes, "set-attribute": "power", "set-value": "off", message: hostileName });
    assert.match(right, /When .*Maple Street.* presence.state is &quot;away&quot;, set .* power to &quot;off&quot;/);
    assert.ok(right.includes("Make this alert") && !right.includes("<b>Voice"));
    assert.match(right, /breezeway home alert add --user \d+ --thing/);

    const definition = { user, thing: home, field: "presence.state", when: "equals", value: "away" };
    const made = await act(operator, "home alert add", { ...definition, set: `${lamp},power=off` });
    assert.equal(made.status, 303, await made.text());
    const { alerts } = await run("home alert list", { user });
    const here = `/alerts/${user}/${alerts[0].alertId}`;
    assert.match(await pageText(operator, `/alerts?user=${user}&state=armed`), new RegExp(`${here}"`));
    assert.match(await pageText(operator, "/alerts?state=odd"), /role="alert"/);

    const alert = { user, alert: String(alerts[0].alertId) };
    const viewer = await invited("vera", { role: "viewer" });
    const seen = await pageText(viewer, here);
    assert.ok(!seen.includes('name="act"') && !seen.includes("do="), "a viewer has no button that changes");
    assert.match(await pageText(viewer, `${here}?value=away&from=24h`), /it would fire.*It would have fired/s);
    assert.equal((await act(viewer, "home alert disable", alert)).status, 403);
    const stranger = await invited("max", { role: "tenantAdmin", tenant: ["Other"] });
    assert.equal((await stranger.get(`/console${here}`)).status, 404);
    assert.equal((await stranger.get(`/console/alerts/new?user=${user}`)).status, 404);
    assert.ok(!(await pageText(stranger, "/alerts")).includes("presence.state"));
    assert.equal((await act(stranger, "home alert disable", alert)).status, 404);
    assert.equal((await act(stranger, "home alert add", definition)).status, 404);

    assert.equal((await act(operator, "home alert disable", alert)).status, 303);
    assert.match(await pageText(operator, here), /disabled/);
    assert.equal((await act(operator, "home alert remove", alert)).status, 303);
    assert.equal((await operator.get(`/console${here}`)).status, 404);
  });

  it("change an alert in the same editor: its id, its history and what it watches stay", async (t) => {
    const { house, run, owner, invited } = await consoleWorld(t);
    const operator = await owner();
    const user = String(house.userId);
    const lamp = String(await house.addLamp("Hall lamp"));
    const watched = { device: lamp, attribute: "power" };
    const definition = { ...watched, value: "on", action: "notify", message: "Light!", "auto-disarm": true };
    const { alertId } = await run("home alert add", { user, ...definition });
    const alert = { user, alert: String(alertId) };
    const here = `/alerts/${user}/${alertId}`;
    const shown = async () => (await run("home alert show", alert)).alert;
    const power = (value: string) => run("home device write", { user, device: lamp, set: [`power=${value}`] });
    await power("on");
    assert.deepEqual([(await shown()).state, (await shown()).firings], ["waiting", 1]);

    assert.match(await pageText(operator, here), new RegExp(`href="/console${here}/edit"`));
    const form = await pageText(operator, `${here}/edit`);
    assert.match(form, new RegExp(`<option value="device:${lamp}" selected>Hall lamp`));
    assert.ok(!form.includes("choose a thing") && /id="alert-message"[^>]* value="Light!"/.test(form), form);
    assert.match(form, /value="disarm" selected/);
    const checked = await pageText(operator, `${here}/edit?check=1&message=Dark&manner=disarm`);
    assert.match(checked, /Change this alert/);
    assert.match(checked, /breezeway home alert edit --user \d+ --alert \d+ --device/);
    assert.match(await pageText(operator, `${here}/edit?check=1&value=`), /id="alert-value"[^>]*aria-invalid="true"/);

    const edit = { ...alert, ...watched, value: "on", action: "notify", message: "Dark", "auto-disarm": "true" };
    assert.equal((await act(operator, "home alert edit", edit)).status, 303);
    const changed = await shown();
    assert.deepEqual([changed.msg, changed.state, changed.firings], ["Dark", "waiting", 1]);
    await power("on");
    assert.equal((await shown()).firings, 1, "it does not fire twice for the same edge");

    // Another condition: as a new alert, it is armed and has not fired for it.
    assert.equal((await act(operator, "home alert edit", { ...edit, when: "regex", value: "on|dim" })).status, 303);
    assert.deepEqual([(await shown()).state, (await shown()).firings], ["armed", 1]);
    await power("dim");
    await power("on");
    assert.deepEqual([(await shown()).state, (await shown()).firings], ["waiting", 2]);

    // A disabled alert stays disabled.
    await run("home alert disable", alert);
    assert.equal((await act(operator, "home alert edit", edit)).status, 303);
    assert.equal((await shown()).state, "disabled");

    const before = await shown();
    const second = String(await house.addLamp("Second lamp"));
    const refused: readonly (readonly [number, object])[] = [
      [400, { ...edit, device: second }],
      [400, { ...edit, when: ">", value: "warm" }],
      [400, { ...edit, device: "", attribute: "", thing: "t_none", field: "smoke.state" }],
      [404, { ...edit, alert: "2147000000" }],
    ];
    for (const [status, input] of refused) {
      const answer = await act(operator, "home alert edit", input as Readonly<Record<string, string>>);
      assert.equal(answer.status, status, await answer.text());
    }
    assert.deepEqual(await shown(), before);
    assert.equal((await act(await invited("vera", { role: "viewer" }), "home alert edit", edit)).status, 403);

    const set = [`${lamp},mode=a`, `${second},mode=b`];
    await run("home alert edit", { ...alert, ...watched, value: "on", set });
    assert.match(await pageText(operator, `${here}/edit`), /this form has room for one/);
    const audited = await run("audit list", { act: "admin", limit: "50" });
    const edits = audited.entries.filter(
      ({ detail }: { detail: { command: string } }) => detail.command === "home alert edit",
    );
    assert.equal(edits.length, 4);
  });

  it("make an alert in the sentence editor, test it, dry-run it, and explain its firing", { skip }, async (t) => {
    const made = await consoleWorld(t, { structures: [{ name: "Maple Street", thermostats: 1, alarms: 1 }] });
    const { house } = made;
    const url = house.service.baseUrl;
    const operator = await made.owner();
    await operatorTab(browser(), { world: { baseUrl: url } } as never, operator, { width: 390 }, async (tab) => {
      await tab.goto("/console/alerts/new");
      await tab.getByRole("link", { name: "ada" }).click();
      const { things } = await made.run("home things", { user: String(house.userId) });
      const { thingId } = things.find((one: { kind: string }) => one.kind === "alarm");
      // With a script the form shows the fields of the thing by itself.
      await tab.getByLabel("What", { exact: true }).selectOption(thingId);
      await tab.getByLabel("Field").locator("option[value='smoke.state']").waitFor({ state: "attached" });
      await tab.getByLabel("Field").selectOption("smoke.state");
      await tab.waitForURL(/field=smoke.state/);
      await tab.getByLabel("Value", { exact: true }).first().fill("alarm");
      await tab.getByText(/^When .*smoke.state.* is “alarm”, tell notify\.$/).waitFor();
      await tab.getByRole("button", { name: "Check it" }).click();
      await tab.getByText("It would have fired 0 times").waitFor();
      await tab.getByRole("button", { name: "Make this alert" }).click();
      await tab.getByText("Done: home alert add.").waitFor();
      await tab.getByRole("link", { name: /smoke.state is "alarm"/ }).click();
      await tab.locator("#freshness", { hasText: "Live" }).waitFor();
      await tab.getByLabel("Value", { exact: true }).fill("alarm");
      await tab.getByRole("button", { name: "Test" }).click();
      await tab.getByText("it would fire").waitFor();
      await tab.getByRole("button", { name: "Run", exact: true }).click();
      await tab.getByText("It would have fired 0 times").waitFor();
      await house.simulator.playScene(house.accountId, { scene: "smoke" });
      await tab.locator("#part-explain").getByText("fired", { exact: true }).waitFor();
      await tab.getByText("It fired at").waitFor();
      assert.equal(await tab.evaluate("document.documentElement.scrollWidth - innerWidth"), 0);
    });
  });
});
