import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { atTerminal, ctrlC, skip } from "../first-minutes/terminal.ts";
import { faultyFront } from "../set-up/faulty-front.ts";
import { linkedHouse } from "./linked-house.ts";
import { startCommand } from "./long-running-command.ts";
import { typed } from "./typed.ts";

const timeout = 120_000;
const green = "\u001b[32m";

describe("a command that watches a device", () => {
  it("marks values on a terminal with the time of the last confirmation when the stream is lost, without green", {
    skip,
    timeout,
  }, async (t) => {
    const { house, service } = await linkedHouse(t);
    const watch = atTerminal(t, "device get 1 away --watch", house.environment);
    const shown = async (pattern: RegExp, isGreen: boolean) => {
      await watch.shows(pattern);
      assert.equal(watch.screen.includes(green), isGreen, watch.screen);
    };
    await shown(/\[32mpresent/, true);
    service.process.kill("SIGSTOP");
    await shown(/\[33munknown, as of \d\d:\d\d:\d\d[\s\S]*\[33mNot live since \d\d:\d\d:\d\d: /, false);
    service.process.kill("SIGCONT");
    await shown(/unknown, as of[\s\S]*\[J[\s\S]*\[32mpresent/, true);
    house.simulator.addFault({ fault: "server-error", status: 503 });
    house.simulator.addFault({ fault: "drop" });
    await shown(/\[31mabsent\S+ · \S+stale, as of \d\d:\d\d:\d\d/, false);
    service.process.kill("SIGKILL");
    await shown(/stale, as of[\s\S]*Not live since/, false);
    watch.press(ctrlC);
    await watch.ended;
  });

  it("reports to a program that the service answers 503, is silent, or has revoked the access", {
    timeout,
  }, async (t) => {
    const { house, service } = await linkedHouse(t);
    const front = await faultyFront(t, service.baseUrl);
    const { accessToken } = await house.authorizeClient();
    const environment = { BREEZEWAY_URL: front.url, BREEZEWAY_TOKEN: accessToken };
    const { line, ended } = startCommand(t, ["device", "watch", "1", "away", "--json"], environment);
    assert.equal((await line()).type, "device");
    for (const [mood, why] of [
      ["unavailable", /503|lost/],
      ["silent streams", /is silent/],
    ] as const) {
      front.become(mood);
      const { type, state, since, reason } = await line();
      assert.deepEqual([type, state, typeof since], ["connection", "lost", "number"]);
      assert.match(reason, why);
      front.become("open");
      assert.deepEqual(await line(), { type: "connection", state: "live" });
    }
    const password = { environment: house.environment, input: "a new and good password\n" };
    assert.equal((await typed(["user", "set-password", "1"], password)).code, 0);
    const { code, err } = await ended;
    assert.equal(code, 4);
    assert.match(err, /Not live since .*\nbreezeway: The access token .*Set a new BREEZEWAY_TOKEN/);
  });
});
