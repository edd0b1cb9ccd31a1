import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { OperatorBrowser } from "../operators/operator-browser.ts";
import { type WorldPlan, world } from "../stories/world.ts";

export const password = "correct horse";

/** A service with a linked house and an owner who is signed in to the console. */
export async function consoleWorld(t: TestContext, plan: WorldPlan = {}) {
  const house = await world(t, { structures: [{ name: "Maple Street", thermostats: 2, alarms: 2 }], ...plan });
  const deviceId = await house.link();
  // biome-ignore lint/suspicious/noExplicitAny: each command has its own answer
  const run = (command: string, input: object = {}): Promise<any> =>
    house.service.parts.administration.run(command, input, { service: { baseUrl: house.service.baseUrl } });
  const enter = async (path: string, form: Readonly<Record<string, string>>) => {
    const browser = new OperatorBrowser(house.service.baseUrl);
    const answer = await browser.send(path, { password, ...form });
    assert.equal(answer.status, 303, await answer.text());
    return browser;
  };
  return {
    house,
    deviceId,
    run,
    owner: async (name = "olga") => enter((await run("operator claim")).path, { name }),
    invited: async (name: string, invitation: object) =>
      enter((await run("operator invite", { name, ...invitation })).path, {}),
  };
}

export type ConsoleWorld = Awaited<ReturnType<typeof consoleWorld>>;

/** The frames of an open stream, one after the other; undefined when it has ended. */
export function framesOf(
  answer: Response,
): () => Promise<{ readonly name: string; readonly data: string } | undefined> {
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  return async () => {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end >= 0) {
        const block = text.slice(0, end);
        text = text.slice(end + 2);
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1] ?? "";
        return { name: field("event"), data: field("data") };
      }
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
      if (done) return undefined;
      text += value;
    }
  };
}
