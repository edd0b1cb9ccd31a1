import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sessionsOn } from "../../demo/console/session.ts";
import { demoFolder } from "./running-demo.ts";

const claimMs = 30 * 60_000;

describe("the link to the console", () => {
  it("opens once", (t) => {
    const sessions = sessionsOn(demoFolder(t));
    const claim = sessions.newClaim();
    assert.equal(sessions.spend("guess"), false);
    assert.equal(sessions.spend(claim), true);
    assert.equal(sessions.spend(claim), false);
  });

  it("opens for half an hour, and not after a newer one was issued", (t) => {
    let nowMs = 0;
    const sessions = sessionsOn(demoFolder(t), () => nowMs);
    const late = sessions.newClaim();
    nowMs = claimMs;
    assert.equal(sessions.spend(late), false);
    const old = sessions.newClaim();
    const newer = sessions.newClaim();
    assert.equal(sessions.spend(old), false);
    nowMs += claimMs - 1;
    assert.equal(sessions.spend(newer), true);
  });

  it("sets a cookie that stays valid after a restart, for this browser, port and folder", (t) => {
    const folder = demoFolder(t);
    const cookieOf = (sessions: ReturnType<typeof sessionsOn>) => sessions.cookie(8080).split(";")[0]!;
    const cookie = cookieOf(sessionsOn(folder));
    const again = sessionsOn(folder);
    assert.equal(again.isOpen(`other=1; ${cookie}`, 8080), true);
    assert.equal(again.isOpen(cookie, 8081), false);
    assert.equal(again.isOpen("", 8080), false);
    assert.equal(again.isOpen(cookieOf(sessionsOn(demoFolder(t))), 8080), false);
    assert.ok(!cookie.includes(again.formToken));
  });
});
