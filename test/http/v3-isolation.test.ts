import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { DeviceId } from "../../src/model/ids.ts";
import { madeV3, type Token } from "./made-v3.ts";

const tokens: readonly Token[] = ["alice", "bob", "carol", "acme", "other"];

/** The callers who may see each user's device, as the interface says: its user and the user's tenant. */
const allowedCallers: Readonly<Record<"alice" | "bob" | "carol", readonly Token[]>> = {
  alice: ["alice", "acme"],
  bob: ["bob", "acme"],
  carol: ["carol", "other"],
};

async function threeHomes(t: TestContext) {
  const made = await madeV3(t);
  const homes: { owner: keyof typeof allowedCallers; deviceId: DeviceId }[] = [];
  for (const owner of ["alice", "bob", "carol"] as const) {
    for (const type of ["Lamp", "EcosystemAccount"])
      homes.push({ owner, deviceId: await made.addDevice(made[owner], type) });
  }
  return { ...made, homes };
}

const put = (body: string) => ({ method: "PUT", headers: { "content-type": "application/json" }, body });

/** An answer without the parts that differ for each request. */
async function comparable(answer: Response): Promise<string> {
  const text = await answer.text();
  const requestId = answer.headers.get("x-request-id")!;
  assert.ok(text.includes(requestId));
  const headers = [...answer.headers].filter(([name]) => name !== "x-request-id" && name !== "date");
  return `${answer.status} ${JSON.stringify(headers)} ${text.replace(requestId, "…")}`;
}

describe("a device of another user", () => {
  it("gets the same answer as a device that never existed, byte for byte, for every call and every kind of caller", async (t) => {
    const { call, homes } = await threeHomes(t);
    const malformed = [
      "0",
      "-1",
      "01",
      "1.0",
      "1e1",
      "abc",
      "%00",
      "1%20",

      "2147483648",
      "99999999999999999999",
    ];
    const bodies = [
      '{"a": "b"}',
      '{"d.structures[1].d.thermostats[1].fan_timer_active.requestWrite": true}',
      '{"nonsense": ""}',
    ];
    const calls: readonly [path: string, init?: RequestInit][] = [
      [""],
      ["?since=0"],
      ["?attribute=a"],
      ...bodies.map((body): [string, RequestInit] => ["", put(body)]),
    ];
    const seen = new Set<string>();
    for (const token of tokens) {
      const foreign = homes
        .filter(({ owner }) => !allowedCallers[owner].includes(token))
        .map(({ deviceId }) => deviceId);
      for (const id of [...foreign, 9_999, ...malformed]) {
        for (const [query, init] of calls) {
          seen.add(await comparable(await call(token, `/v3/devices/${id}${query}`, init)));
        }
      }
    }
    assert.equal(seen.size, 1, [...seen].join("\n"));
    assert.match([...seen][0]!, /^404 .*"error":"unknown_device","error_description":"Device does not exist\."/);
  });

  it("can't be read, changed or listed, but an own device can", async (t) => {
    const { get, call, homes, stored, ...ids } = await threeHomes(t);
    for (const { owner, deviceId } of homes) {
      const before = await stored(ids[owner], deviceId);
      for (const token of tokens) {
        const isAllowed = allowedCallers[owner].includes(token);
        assert.equal((await get(token, `/v3/devices/${deviceId}`)).status, isAllowed ? 200 : 404);
        for (const type of ["Lamp", "EcosystemAccount"]) {
          const { devices } = (await get(token, `/v3/devices?deviceTypeName=${type}`)).body;
          const isListed = devices.some((one: { deviceId: DeviceId }) => one.deviceId === deviceId);
          assert.equal(isListed, isAllowed && before.device!.typeName === type);
        }
        if (!isAllowed) await call(token, `/v3/devices/${deviceId}`, put('{"a": "b"}'));
      }
      assert.deepEqual(await stored(ids[owner], deviceId), before);
    }
  });

  it("stays hidden while its state is cached for callers who may read it", async (t) => {
    const { get, homes } = await threeHomes(t);
    for (let round = 0; round < 2; round++) {
      for (const { owner, deviceId } of homes) {
        const answers = await Promise.all(tokens.map((token) => get(token, `/v3/devices/${deviceId}`)));
        tokens.forEach((token, i) => {
          assert.equal(answers[i]!.status, allowedCallers[owner].includes(token) ? 200 : 404, `${token} of ${owner}'s`);
        });
      }
    }
  });
});
