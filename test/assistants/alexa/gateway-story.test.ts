import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Fault, namedFaults } from "../../../simulator/alexa/faults.ts";
import { eventually } from "../../stories/world.ts";
import { type Delivery, ownHomeAtAlexa } from "./own-home.ts";

/**
 * What the gateway answers, the status of the delivery that shows it, and what the service does: `again` by itself, `when
 * asked` again only by an operator or at the next emergency, because it waits long, or `never`, because the message is
 * refused and the next one is taken.
 */
const answers: readonly (readonly [
  name: string,
  fault: Fault,
  status: number | null,
  does: "again" | "when asked" | "never",
])[] = [
  ["400 INVALID_REQUEST", namedFaults.invalidRequest, 400, "never"],
  ["403 INSUFFICIENT_PERMISSION", namedFaults.noPermission, 403, "when asked"],
  ["429 THROTTLING with Retry-After", { ...namedFaults.rateLimited, retryAfterSeconds: 2 }, 429, "again"],
  ["nothing, as it is down", { kind: "isDown" }, null, "again"],
  ["413 REQUEST_ENTITY_TOO_LARGE", namedFaults.tooLarge, 413, "never"],
  ["404 SKILL_NOT_FOUND", namedFaults.notFound, 404, "when asked"],
  ["401 INVALID_ACCESS_TOKEN, also after a renewal", namedFaults.invalidToken, 401, "again"],
  ["403 SKILL_NEVER_ENABLED", namedFaults.neverEnabled, 403, "again"],
  ["500 INTERNAL_SERVICE", namedFaults.internal, 500, "again"],
  ["503 SERVICE_UNAVAILABLE", namedFaults.unavailable, 503, "again"],
  ["nothing in time", { kind: "hangs" }, null, "again"],
];

describe("an event gateway with faults", () => {
  it("is told again, or not, as its answer means, and every attempt is a delivery", { timeout: 240_000 }, async (t) => {
    const home = await ownHomeAtAlexa(t, 2);
    const { story, company, amazon, customer, outlet, isTold, find, deliveries } = home;
    const lamp = await find("Lamp 1");
    const power = () => customer.states.get(lamp.thingId)?.get("Alexa.PowerController.powerState");
    const { assistants, administration } = story.service.parts;
    const grant = async () => (await assistants.grants.ofOutlet(outlet.outlet, 1))[0];
    let isOn = false;
    for (const [name, fault, status, does] of answers) {
      const known = (await deliveries()).length;
      const since = async (): Promise<readonly Delivery[]> => (await deliveries()).slice(0, -known);
      amazon.faults.set("gateway", fault);
      isOn = !isOn;
      await company.write(lamp.deviceId, { power: isOn ? "on" : "off" });
      await eventually(t.signal, async () => {
        const failed = (await since()).filter(({ outcome }) => outcome === (does === "never" ? "refused" : "retry"));
        assert.ok(failed.length >= (does === "again" ? 2 : 1), name);
        for (const one of failed) assert.deepEqual([one.type, one.status], ["ChangeReport", status], name);
      });
      // The report ends after its attempt was stored.
      await eventually(t.signal, async () => assert.ok((await grant())?.problem, `${name} is shown`));
      const { dueMs } = (await grant())!;
      assert.equal(dueMs !== null && dueMs - story.nowMs() > 300_000, does === "when asked", name);
      assert.equal(power() === (isOn ? "ON" : "OFF"), false, "nothing was taken");
      amazon.faults.clear("gateway");
      if (does === "when asked")
        await administration.run("outlet resend", { outlet: outlet.outlet, user: `${story.userId}` });
      if (does === "never") {
        isOn = !isOn;
        await company.write(lamp.deviceId, { power: isOn ? "on" : "off" });
      }
      await isTold();
      assert.equal(power(), isOn ? "ON" : "OFF", name);
    }
    amazon.faults.set("gateway", { kind: "refuses", status: 403, code: "SKILL_DISABLED_EXCEPTION" });
    await company.write(lamp.deviceId, { power: isOn ? "off" : "on" });
    await eventually(t.signal, async () => assert.equal(await grant(), undefined));
    const [last] = await deliveries();
    assert.deepEqual([last!.outcome, last!.status], ["forgotten", 403]);
    assert.ok(!/Atz[ar]\|/.test(story.logged.join()), "no token is logged");
  });
});
