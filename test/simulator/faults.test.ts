import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { malformedKinds } from "../../simulator/streams/malformed-frames.ts";
import { type AnyJson, first, movedClock, simulatorWorld, until } from "./world.ts";

describe("faults of the control interface", () => {
  it("are listed by kind with their meaning and arguments, and the active ones are listed too", async (t) => {
    const world = await simulatorWorld(t, movedClock(Date.UTC(2026, 0, 1)));
    const account = await world.account();
    const { status, body: on } = await account.fault("slow", { ms: 5, times: 3, forMs: 1000 });
    assert.equal(status, 201);
    const { kinds, active } = (await world.call("GET", "/simulator/faults")).body;
    assert.deepEqual(active, [on]);
    const shown = { fault: "slow", ms: 5, accountId: account.accountId, timesLeft: 3 };
    assert.deepEqual(on, { id: on.id, ...shown, until: "2026-01-01T00:00:01.000Z" });
    const names = kinds.map((kind: AnyJson) => kind.fault);
    for (const name of ["drop", "silence", "keep-alives-only", "cut-mid-frame", "malformed", "reset-after-body"]) {
      assert.ok(names.includes(name), name);
    }
    for (const kind of kinds) {
      assert.match(kind.meaning, /^[A-Z].*\.$/);
      for (const shared of ["accountId", "times", "forMs"]) assert.ok(shared in kind.arguments);
    }
  });

  it("are cleared one by one or all at once", async (t) => {
    const { simulator, call } = await simulatorWorld(t);
    const { id } = simulator.addFault({ fault: "duplicate" });
    simulator.addFault({ fault: "unauthorized" });
    simulator.addFault({ fault: "slow", ms: 1 });
    assert.equal((await call("DELETE", `/simulator/faults/${id}`)).status, 204);
    assert.equal((await call("DELETE", `/simulator/faults/${id}`)).status, 404);
    assert.deepEqual((await call("DELETE", "/simulator/faults")).body, { cleared: 2 });
    assert.deepEqual(simulator.faults(), []);
    assert.equal(simulator.clearFaults(), 0);
  });

  it("end after a number of times or a duration", async (t) => {
    const clock = movedClock(0);
    const { simulator, ...world } = await simulatorWorld(t, clock);
    const account = await world.account();
    simulator.addFault({ fault: "unauthorized", times: 2 });
    simulator.addFault({ fault: "server-error", forMs: 1000 });
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++) statuses.push((await account.get("/")).status);
    clock.move(999);
    statuses.push((await account.get("/")).status);
    clock.move(1);
    statuses.push((await account.get("/")).status);
    assert.deepEqual(statuses, [401, 401, 500, 500, 200]);
    assert.deepEqual(simulator.faults(), []);
  });

  it("affect their account and no other", async (t) => {
    const world = await simulatorWorld(t);
    const [account, neighbour] = [await world.account(), await world.account()];
    await account.fault("server-error", { status: 503 });
    assert.equal((await account.get("/")).status, 503);
    assert.equal((await neighbour.get("/")).status, 200);
  });

  it("are refused with a message when they are invalid, and then none is active", async (t) => {
    const world = await simulatorWorld(t);
    const account = await world.account();
    const wrong: [AnyJson, number][] = [
      [{ fault: "earthquake" }, 400],
      [{ fault: "__proto__" }, 400],
      [{}, 400],
      [[], 400],
      [{ fault: "drop", accountId: "nobody" }, 404],
      [{ fault: "drop", accountId: 7 }, 400],
      [{ fault: "drop", times: 0 }, 400],
      [{ fault: "drop", times: 1.5 }, 400],
      [{ fault: "drop", forMs: "long" }, 400],
      [{ fault: "drop", ms: 5 }, 400],
      [{ fault: "slow" }, 400],
      [{ fault: "slow", ms: 1e9 }, 400],
      [{ fault: "malformed", kind: "toString" }, 400],
      [{ fault: "out-of-size", megabytes: 1000 }, 400],
      [{ fault: "server-error", status: 200 }, 400],
      [{ fault: "redirect-foreign" }, 400],
      [{ fault: "redirect-foreign", host: "a b\r\nX: y" }, 400],
      [{ fault: "reject-fan", reason: "mood" }, 400],
      [{ fault: "silence", newConnections: "yes" }, 400],
    ];
    for (const [fault, expected] of wrong) {
      const { status, body } = await world.call("POST", "/simulator/faults", fault);
      assert.equal(status, expected, JSON.stringify(fault));
      assert.match(body.message, /^[A-Za-z].*\.$/s);
    }
    assert.deepEqual(world.simulator.faults(), []);
    assert.equal((await account.get("/")).status, 200);
  });
});

describe("a stream under a fault", () => {
  it("is dropped; with `times`, the next streams are dropped after their snapshot too", async (t) => {
    const world = await simulatorWorld(t);
    const account = await world.account();
    const open = await account.stream();
    await open.next();
    const { body } = await account.fault("drop", { times: 3 });
    assert.equal(body.streams, 1);
    assert.equal(await open.over, "broken");
    for (let i = 0; i < 2; i++) {
      const next = await account.rawStream();
      assert.equal(await next.over, "broken");
    }
    const spared = await account.stream();
    assert.equal((await spared.next()).event, "put");
    assert.deepEqual(world.simulator.faults(), []);
    assert.equal((await account.fault("drop")).body.streams, 1);
    assert.deepEqual(world.simulator.faults(), []);
  });

  it("gets an error event and ends", async (t) => {
    const account = await (await simulatorWorld(t)).account();
    const stream = await account.stream();
    await stream.next();
    await account.fault("stream-error", { message: "out of luck" });
    assert.deepEqual(await stream.next(), { event: "error", data: { error: "out of luck", message: "out of luck" } });
    assert.equal(await stream.over, "ended");
  });

  it("falls silent without closing; a new one works, and the old one continues when the fault is cleared", async (t) => {
    const clock = movedClock(0);
    const world = await simulatorWorld(t, clock);
    const account = await world.account();
    const stream = await account.stream();
    await stream.next();
    await account.fault("silence");
    await account.scene("leave");
    clock.move(120_000);
    const fresh = await account.stream();
    assert.equal(first((await fresh.next()).data.data.structures).away, "away");
    await account.scene("auto-away");
    assert.equal(first((await fresh.next()).data.data.structures).away, "auto-away");
    assert.equal((await world.call("GET", "/simulator")).body.streams, 2);
    world.simulator.clearFaults();
    await account.scene("come-home");
    assert.equal(first((await stream.next()).data.data.structures).away, "home");
  });

  it("is not answered when new connections are silent too", async (t) => {
    const world = await simulatorWorld(t);
    const account = await world.account();
    await account.fault("silence", { newConnections: true });
    const controller = new AbortController();
    const headers = { Authorization: `Bearer ${account.token}` };
    const pending = fetch(world.simulator.url, { headers, signal: controller.signal });
    await until(() => world.simulator.log().some(({ kind, method }) => kind === "fault" && method === "GET"));
    controller.abort();
    await assert.rejects(pending, { name: "AbortError" });
    const unanswered = account.get("/");
    await until(() => world.simulator.log().filter(({ method }) => method === "GET").length === 2);
    await Promise.all([assert.rejects(unanswered), world.simulator.stop()]);
  });

  it("sends keep-alives and no changes, which a read shows", async (t) => {
    const clock = movedClock(0);
    const world = await simulatorWorld(t, clock);
    const account = await world.account();
    const stream = await account.stream();
    await stream.next();
    await account.fault("keep-alives-only");
    await account.scene("leave");
    clock.move(30_000);
    assert.equal((await stream.next()).event, "keep-alive");
    const { structure_id: id } = first((await account.document()).structures);
    assert.equal((await account.get(`/structures/${id}/away`)).body, "away");
    assert.equal(world.simulator.log().filter(({ kind }) => kind === "put").length, 1);
    world.simulator.clearFaults();
    await account.scene("come-home");
    assert.equal((await stream.next()).event, "put");
  });

  it("delivers everything late and in order, also when the delay ends in between", async (t) => {
    const clock = movedClock(0);
    const world = await simulatorWorld(t, clock);
    const account = await world.account();
    const stream = await account.stream("/structures");
    await stream.next();
    world.simulator.addFault({ fault: "slow", ms: 5000 });
    await world.simulator.playScene(account.accountId, { scene: "leave" });
    world.simulator.clearFaults();
    await world.simulator.playScene(account.accountId, { scene: "auto-away" });
    const seen: string[] = [];
    const read = (async () => {
      for (let i = 0; i < 2; i++) seen.push(first((await stream.next()).data.data).away);
    })();
    clock.move(4999);
    await account.get("/");
    assert.deepEqual(seen, []);
    clock.move(1);
    await read;
    assert.deepEqual(seen, ["away", "auto-away"]);
  });

  it("is cut off in the middle of a put", async (t) => {
    const world = await simulatorWorld(t);
    const account = await world.account();
    const stream = await account.rawStream();
    const opening = (await stream.until((text) => text.endsWith("\n\n"))).length;
    await account.fault("cut-mid-frame", { times: 1 });
    await account.scene("leave");
    assert.equal(await stream.over, "broken");
    const cut = stream.text().slice(opening);
    assert.match(cut, /^event: put\ndata: \{/);
    assert.ok(cut.length > 100 && !cut.endsWith("\n"));
    assert.equal(world.simulator.log().findLast(({ kind }) => kind === "stream-closed")?.reason, "cut");
    assert.equal((await (await account.stream()).next()).event, "put");
  });

  it("delivers each put twice", async (t) => {
    const account = await (await simulatorWorld(t)).account();
    const stream = await account.stream();
    await stream.next();
    await account.fault("duplicate");
    await account.scene("leave");
    assert.deepEqual(await stream.next(), await stream.next());
  });

  it("delivers an event of many megabytes", async (t) => {
    const account = await (await simulatorWorld(t)).account();
    await account.fault("out-of-size", { megabytes: 10, times: 1 });
    const stream = await account.stream();
    const { data } = await stream.next();
    assert.equal(data.padding.length, 10 * 1024 * 1024);
    await account.scene("leave");
    assert.ok(!("padding" in (await stream.next()).data));
  });

  for (const kind of malformedKinds) {
    it(`delivers a malformed put (${kind}), and a valid one after it`, async (t) => {
      const world = await simulatorWorld(t);
      const account = await world.account();
      const stream = await account.rawStream();
      const opening = await stream.until((text) => text.endsWith("\n\n"));
      await account.fault("malformed", { kind, times: 1 });
      await account.scene("leave");
      const spoilt = await stream.until((text) => text.length > opening.length && text.endsWith("\n\n"));
      await account.scene("come-home");
      const all = await stream.until((text) => text.length > spoilt.length && text.endsWith("\n\n"));
      const good = `event: put\ndata: ${JSON.stringify({ path: "/", data: (await account.get("/")).body })}\n\n`;
      assert.equal(all.slice(spoilt.length), good);
      assert.notEqual(spoilt.slice(opening.length), good.replace('"away":"home"', '"away":"away"'));
    });
  }

  it("splits a character between two chunks", async (t) => {
    const account = await (await simulatorWorld(t)).account();
    await account.fault("malformed", { kind: "split-utf8" });
    const stream = await account.rawStream();
    await stream.until((text) => text.endsWith("\n\n"));
    assert.ok(stream.pieces.some((piece) => piece.toString("utf8").includes("\ufffd")));
    assert.ok(stream.text().includes("🏡"));
  });
});

describe("a request under a fault", () => {
  it("is refused as if its token were wrong", async (t) => {
    const account = await (await simulatorWorld(t)).account();
    await account.fault("unauthorized", { requests: "stream" });
    assert.equal((await account.stream()).status, 401);
    assert.equal((await account.get("/")).status, 200);
    await account.fault("unauthorized");
    const { status, body } = await account.get("/");
    assert.deepEqual([status, body.message], [401, "unauthorized"]);
  });

  const written: Record<string, string | null> = {
    none: null,
    seconds: "90",
    "http-date": "Thu, 01 Jan 2026 00:01:30 GMT",
    nonsense: "soon",
    negative: "-90",
    huge: "999999999999999999999",
  };
  for (const [retryAfter, header] of Object.entries(written)) {
    it(`is one too many, with Retry-After as ${retryAfter}`, async (t) => {
      const account = await (await simulatorWorld(t, movedClock(Date.UTC(2026, 0, 1)))).account();
      await account.fault("too-many-requests", { retryAfter, seconds: 90 });
      const { status, headers, body } = await account.get("/");
      assert.deepEqual([status, headers.get("retry-after"), body.message], [429, header, "blocked"]);
      assert.match(body.type, /#blocked$/);
    });
  }

  it("is redirected in a loop, or to a foreign host", async (t) => {
    const world = await simulatorWorld(t);
    const account = await world.account();
    const ask = async (method: string, body: string | null = null) => {
      const headers = { Authorization: `Bearer ${account.token}` };
      const url = `${world.simulator.url}/structures?x=1`;
      const { status, headers: got } = await fetch(url, { method, headers, body, redirect: "manual" });
      return [status, got.get("location")];
    };
    await account.fault("redirect-loop", { times: 2 });
    assert.deepEqual(await ask("GET"), [307, `${world.simulator.url}/structures?x=1`]);
    assert.deepEqual(await ask("PUT", "{}"), [307, `${world.simulator.url}/structures?x=1`]);
    await account.fault("redirect-foreign", { host: "evil.example:9553", times: 1 });
    assert.deepEqual(await ask("GET"), [307, "http://evil.example:9553/structures?x=1"]);
    await account.fault("redirect-foreign", { host: "https://evil.example/a/" });
    assert.deepEqual(await ask("GET"), [307, "https://evil.example/a/structures?x=1"]);
  });

  it("is answered late", async (t) => {
    const clock = movedClock(0);
    const world = await simulatorWorld(t, clock);
    const account = await world.account();
    await account.fault("slow", { ms: 60_000 });
    const pending = account.get("/");
    await until(() => clock.waiting() === 1);
    clock.move(60_000);
    assert.equal((await pending).status, 200);
  });

  it("for a token gets the faults that name it", async (t) => {
    const world = await simulatorWorld(t);
    world.simulator.addFault({ fault: "server-error", requests: "all" });
    assert.equal((await world.call("POST", "/oauth2/access_token")).status, 400);
    world.simulator.addFault({ fault: "server-error", status: 503, requests: "token" });
    assert.equal((await world.call("POST", "/oauth2/access_token")).status, 503);
  });
});

describe("a command under a fault", () => {
  const published = {
    away: [400, "Cannot change fan_timer_active while structure is away", ""],
    "safety-shutoff": [400, "Cannot activate fan during smoke/co safety shutoff", "#safety-shutoff-on"],
    offline: [400, "Thermostat is not online", "#not-online"],
    "no-fan": [400, "Thermostat does not have a fan", ""],
    "no-write-permission": [400, "No write permission(s) for field(s): fan_timer_active", "#no-write-permission"],
    blocked: [429, "blocked", "#blocked"],
  } as const;
  for (const [reason, [status, message, anchor]] of Object.entries(published)) {
    it(`is refused with the published message for ${reason}`, async (t) => {
      const account = await (await simulatorWorld(t)).account();
      const { device_id: id } = first((await account.document()).devices.thermostats);
      await account.fault("reject-fan", { reason });
      const answer = await account.put(`/devices/thermostats/${id}`, { fan_timer_active: true });
      assert.deepEqual([answer.status, answer.body.message], [status, message]);
      assert.match(answer.body.type, new RegExp(`error-messages${anchor}$`));
    });
  }

  it("is refused with any text, when it is for a fan", async (t) => {
    const account = await (await simulatorWorld(t)).account();
    const { devices, structures } = await account.document();
    await account.fault("reject-fan", { message: "<b>näh, 🏡</b>", status: 500 });
    const path = `/devices/thermostats/${first(devices.thermostats).device_id}`;
    const { status, body } = await account.put(path, { fan_timer_active: false });
    assert.deepEqual([status, body.message], [500, "<b>näh, 🏡</b>"]);
    assert.equal((await account.put(`/structures/${first(structures).structure_id}`, { away: "away" })).status, 200);
  });

  it("is executed and never answered", async (t) => {
    const world = await simulatorWorld(t);
    const account = await world.account();
    const { device_id: id } = first((await account.document()).devices.thermostats);
    const stream = await account.stream();
    await stream.next();
    await account.fault("withhold-answer");
    const controller = new AbortController();
    const pending = fetch(`${world.simulator.url}/devices/thermostats/${id}`, {
      method: "PUT",
      headers: { Authorization: `Bearer ${account.token}` },
      body: '{"fan_timer_active":true}',
      signal: controller.signal,
    });
    assert.equal((await stream.next()).data.data.devices.thermostats[id].fan_timer_active, true);
    controller.abort();
    await assert.rejects(pending, { name: "AbortError" });
  });

  for (const carriedOut of [false, true]) {
    it(`loses its connection after the body, and is ${carriedOut ? "" : "not "}executed`, async (t) => {
      const world = await simulatorWorld(t);
      const account = await world.account();
      const { device_id: id } = first((await account.document()).devices.thermostats);
      await account.fault("reset-after-body", { times: 1, carriedOut });
      const lost = account.put(`/devices/thermostats/${id}`, { fan_timer_active: true });
      await assert.rejects(lost, (error: AnyJson) => error.cause.code === "ECONNRESET");
      const { devices } = await account.document();
      assert.equal(devices.thermostats[id].fan_timer_active, carriedOut);
      assert.equal((await account.put(`/devices/thermostats/${id}`, { fan_timer_active: true })).status, 200);
    });
  }

  it("starts a fan that stops again without a command", async (t) => {
    const clock = movedClock(Date.UTC(2026, 0, 1));
    const world = await simulatorWorld(t, clock);
    const account = await world.account();
    const { device_id: id } = first((await account.document()).devices.thermostats);
    const stream = await account.stream(`/devices/thermostats/${id}/fan_timer_active`);
    const isActive = async () => (await stream.next()).data.data;
    assert.equal(await isActive(), false);
    await account.fault("accept-then-revert", { times: 1 });
    const answer = await account.put(`/devices/thermostats/${id}`, { fan_timer_active: true });
    assert.equal(answer.status, 200);
    assert.deepEqual([await isActive(), await isActive()], [true, false]);
    await account.fault("accept-then-revert", { times: 1, afterMs: 5000 });
    await account.put(`/devices/thermostats/${id}`, { fan_timer_active: true });
    assert.equal(await isActive(), true);
    clock.move(5000);
    assert.equal(await isActive(), false);
  });
});
