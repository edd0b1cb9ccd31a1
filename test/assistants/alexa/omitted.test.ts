import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { alexa } from "../../../src/assistants/alexa/assistant.ts";
import { readSettings } from "../../../src/assistants/alexa/settings.ts";
import type { CurrentThing } from "../../../src/assistants/current-thing.ts";
import type { ActParts } from "../../../src/cli/administration/admin-command.ts";
import { adminCalls } from "../../../src/cli/administration/calls/calls.ts";
import { showOutlet } from "../../../src/cli/nouns/outlet/outlet-show.ts";
import { manualRuntime } from "../../federation/manual-runtime.ts";
import { Schemas } from "../../http/documented-answers/described-answers.ts";
import { onOff, thing } from "./things.ts";

/** What `outlet show` says of users with that many lamps. */
async function showing(lamps: Readonly<Record<number, number>>, user?: string) {
  const call = () => assert.fail("nothing is sent");
  const assistant = alexa({ call, runtime: manualRuntime(), newUuid: () => "m" });
  const settings = readSettings({
    "skill-id": "amzn1.ask.skill.1",
    "vendor-id": "M1",
    "messaging-client-id": "c",
    "messaging-client-secret": "s",
  });
  const outlet = { id: "bwo_1", kind: "alexa", tenantId: 1, clientId: "c", createdMs: 0, assistant, settings };
  const grants = Object.keys(lamps).map((userId) => ({
    ...{ userId: Number(userId), sinceMs: 0, reportedMs: null, problem: null, dueMs: null },
  }));
  const homeOf = (userId: number): CurrentThing[] =>
    Array.from({ length: lamps[userId]! }, (_, index) => {
      const number = String(index).padStart(3, "0");
      return thing("light", onOff(true), { thingId: `t_${number}`, name: `Lamp ${number}` });
    });
  const parts = {
    identity: { listTenants: async () => [{ tenantId: 1, name: "Acme" }] },
    assistants: {
      outlets: { list: async () => [outlet], setUp: () => [] },
      grants: {
        ofOutlet: async () => grants,
        ofUser: async (_: string, userId: number) => grants.filter((grant) => grant.userId === userId),
        countOfOutlet: async () => grants.length,
      },
      health: async () => [{ last: undefined, sinceMs: 0, reportLagMs: 0, errors: [] }],
      omitted: async (_: unknown, userId: number) => assistant.choose!(homeOf(userId), settings).omitted,
    },
  } as unknown as ActParts;
  const input = { outlet: "bwo_1", ...(user && { user }) };
  const { answer } = await showOutlet.act(parts, input, undefined, () => undefined);
  const lines = showOutlet.toText(answer, input, 200).split("\n");
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what the test looks at
  const { users } = answer as any;
  return { answer, users, lines: lines.filter((line) => /user \d|not offered|more;/.test(line)) };
}

describe("outlet show", () => {
  it("names the devices that Alexa is not offered, because it takes 300", async () => {
    const { users, lines } = await showing({ 7: 312, 8: 300 });
    assert.deepEqual(
      users.map(({ omitted }: { omitted: { count: number } }) => omitted.count),
      [12, 0],
    );
    assert.deepEqual(users[0].omitted.devices[0], { id: "t_300", thingId: "t_300", name: "Lamp 300" });
    assert.equal(lines.length, 2 + 10 + 1);
    assert.match(lines[0]!, /user 7: .*12 devices not offered, because the assistant takes no more$/);
    assert.equal(lines[1], "    not offered: t_300 Lamp 300");
    assert.equal(lines[11], "    and 2 devices more; see: breezeway outlet show bwo_1 --user 7");
    assert.doesNotMatch(lines[12]!, /not offered/);
  });

  it("names all of them for one user", async () => {
    const { users, lines } = await showing({ 7: 312, 8: 300 }, "7");
    assert.deepEqual([users.length, users[0].omitted.devices.length, lines.length], [1, 12, 13]);
    assert.deepEqual((await showing({ 7: 312 }, "9")).users, []);
  });

  it("answers as its call of /admin/v1 is described", async () => {
    const { answer } = await showing({ 7: 312, 8: 300 });
    const described = adminCalls.find(({ act }) => act === "outlet show")!.answer;
    new Schemas({ components: { schemas: {} } }).assertFits(described, answer, "outlet show");
  });
});
