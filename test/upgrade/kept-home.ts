import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { Webhook } from "standardwebhooks";
import { EventStream } from "../events/event-stream.ts";
import { send } from "../events/made-home.ts";
import { eventually } from "../stories/world.ts";
import { type FilledHome, grant, idsOf, type OlderHome, platformAt, put, shownValue, smoke } from "./older-home.ts";
import type { StoreRows } from "./store-rows.ts";

const away = "d.structures[1].a.away";

/** Checks that a home which the older version filled keeps its data, at any node. */
export class KeptHome {
  /** All values of the lamp's power, in the order of the writes. */
  readonly powers: string[];
  /** Devices that were added after the home was filled. */
  addedDevices = 0;
  readonly #test: TestContext;
  readonly #olderHome: OlderHome;
  readonly #filled: FilledHome;

  constructor(test: TestContext, made: OlderHome, filled: FilledHome) {
    this.#test = test;
    this.#olderHome = made;
    this.#filled = filled;
    this.powers = [...filled.powers];
  }

  get #token(): string {
    return this.#filled.tokens.access_token;
  }

  eventually(check: () => Promise<void>): Promise<void> {
    return eventually(this.#test.signal, check);
  }

  /** Tokens of the older version still give access. */
  async assertTokensWork(url: string, token = this.#token): Promise<void> {
    const { enterpriseToken, secToken } = this.#filled;
    const { lamp } = this.#olderHome;
    const last = this.powers.at(-1);
    assert.equal(await shownValue(url, token, lamp, "power"), last);
    assert.equal(await shownValue(url, enterpriseToken, lamp, "power"), last);
    const shown = await platformAt(url, secToken).device(lamp);
    assert.equal(shown.attributes.get("power")?.value, last);
  }

  /** The refresh token of the older version gives new tokens. */
  refresh(url: string, refreshToken = this.#filled.tokens.refresh_token) {
    return grant(url, { grant_type: "refresh_token", refresh_token: refreshToken, ...this.#olderHome.userClient });
  }

  /** Writes the lamp's next value at one node and reads it at all of them. */
  async switchLamp(url: string, readers: readonly string[] = [url]): Promise<void> {
    const power = `value ${this.powers.length + 1}`;
    const answer = await put(url, this.#token, this.#olderHome.lamp, { power });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    this.powers.push(power);
    for (const reader of readers) await this.assertTokensWork(reader);
  }

  async resume(url: string, lastEventId?: string): Promise<EventStream> {
    const plan = lastEventId === undefined ? {} : { lastEventId };
    const stream = await EventStream.open(url, this.#token, plan);
    this.#test.after(() => stream.close());
    return stream;
  }

  /** The stream has received exactly the lamp's values from this index on, once and in order. */
  async untilReceived(stream: EventStream, from: number): Promise<void> {
    await this.eventually(async () => assert.deepEqual(this.heardBy(stream), this.powers.slice(from)));
  }

  heardBy(stream: EventStream): readonly string[] {
    const { lamp } = this.#olderHome;
    const ours = stream.events.filter(({ data }) => data.deviceId === lamp && data.name === "power");
    return ours.map(({ data }) => data.value);
  }

  /** The cursor of the older version's first page leads to all other devices. */
  async assertCursorContinues(
    url: string,
    { firstIds, cursor } = this.#filled as Pick<FilledHome, "firstIds" | "cursor">,
  ) {
    const { status, body } = await send(`${url}/v3/devices?cursor=${cursor}`, this.#token, "GET");
    assert.equal(status, 200, JSON.stringify(body));
    assert.ok(cursor, "the first page was the whole list");
    const ids = [...firstIds, ...idsOf(body)];
    assert.deepEqual(
      [ids.length, new Set(ids).size, body.cursor],
      [this.#filled.devices + this.addedDevices, ids.length, undefined],
    );
  }

  async firstPage(url: string): Promise<Pick<FilledHome, "firstIds" | "cursor">> {
    const { body } = await send(`${url}/v3/devices`, this.#token, "GET");
    return { firstIds: idsOf(body), cursor: body.cursor };
  }

  async assertHistoryIsThere(url: string): Promise<void> {
    const { lamp } = this.#olderHome;
    const history = await send(`${url}/v3/devices/${lamp}/history?attribute=power`, this.#token, "GET");
    assert.deepEqual(
      history.body.changes.map(({ value }: { value: string }) => value),
      this.powers,
    );
  }

  /** A read with the time of the second value returns later changes, and none from before. */
  async assertSinceWorks(url: string): Promise<void> {
    const { lamp, fullDevice } = this.#olderHome;
    const since = (deviceId: number) =>
      send(`${url}/v3/devices/${deviceId}?since=${this.#filled.sinceMs}`, this.#token, "GET");
    assert.equal((await since(lamp)).body.attributes.power.value, this.powers.at(-1));
    assert.deepEqual((await since(fullDevice)).body.attributes, {});
  }

  /** The links are live, and changes in the simulator are mirrored. */
  async assertMirrors(url: string): Promise<void> {
    for (const { ecosystem, accountId, deviceId } of this.#filled.accounts) {
      const before = await shownValue(url, this.#token, deviceId, away);
      const [scene, after] = before === "away" ? ["come-home", "home"] : ["leave", "away"];
      await this.#olderHome.simulator.playScene(accountId, { scene });
      await this.eventually(async () => assert.equal(await shownValue(url, this.#token, deviceId, away), after));
      const platform = platformAt(url, this.#filled.secToken);
      await this.eventually(async () => assert.equal((await platform.linkStatus(ecosystem)).state, "live"));
    }
  }

  /** Smoke in each account triggers its alert once, and the alert writes to the lamp. */
  async assertAlertsFire(url: string): Promise<void> {
    const { accounts } = this.#filled;
    const { lamp, simulator } = this.#olderHome;
    const silent = Object.fromEntries(accounts.map(({ siren }) => [siren, "off"]));
    assert.equal((await put(url, this.#token, lamp, silent)).status, 200);
    const firings = async (alertId: number): Promise<number> =>
      (await send(`${url}/v3/alerts/${alertId}`, this.#token, "GET")).body.firings;
    for (const { accountId, deviceId, siren, alertId } of accounts) {
      const before = await firings(alertId);
      await simulator.playScene(accountId, { scene: "smoke" });
      await this.eventually(async () => assert.equal(await shownValue(url, this.#token, lamp, siren), "on"));
      assert.equal(await firings(alertId), before + 1);
      await simulator.playScene(accountId, { scene: "clear" });
      await this.eventually(async () => assert.equal(await shownValue(url, this.#token, deviceId, smoke), "false"));
    }
  }

  /** The receiver got each of the lamp's values once, signed with the secret of the older version. */
  async untilDelivered({ received } = this.#filled.hook, secret = this.#filled.webhookSecret, from = 0): Promise<void> {
    await this.eventually(async () => {
      const values = received.flatMap(({ message }) => message.data.attributes?.power ?? []);
      assert.deepEqual(values, this.powers.slice(from));
    });
    const ids = received.map(({ headers }) => headers["webhook-id"]);
    assert.equal(new Set(ids).size, ids.length, "a message came twice");
    assert.deepEqual([...new Set(received.map(({ message }) => message.type))], ["attribute"]);
    for (const { body, headers } of received) new Webhook(secret).verify(body, headers);
  }

  async untilSealed(rows: StoreRows): Promise<void> {
    await this.eventually(async () => {
      const webhooks = await rows.all("SELECT url, sealed_url FROM webhooks");
      assert.ok(webhooks.length > 0);
      for (const { url, sealed_url: sealed } of webhooks) {
        assert.equal(url, "");
        assert.ok(sealed.length > 0 && !sealed.includes("/hook"));
      }
    });
  }

  /** A device with as many names as the limit, or more, can be read, written and erased, but not grown. */
  async assertFullDeviceOnlyShrinks(url: string): Promise<void> {
    const { fullDevice } = this.#olderHome;
    const attributes = async () => (await send(`${url}/v3/devices/${fullDevice}`, this.#token, "GET")).body.attributes;
    const before = Object.keys(await attributes()).length;
    assert.ok(before >= 1_000, `${before} attributes`);
    assert.equal((await put(url, this.#token, fullDevice, { place1: "full", place2: "full" })).status, 200);
    const grown = await put(url, this.#token, fullDevice, { place1: "grown", another: "x" });
    assert.deepEqual([grown.status, grown.body.error], [409, "limit_reached"]);
    assert.equal((await put(url, this.#token, fullDevice, { place2: null })).status, 200);
    const after = await attributes();
    assert.deepEqual([after.place1.value, after.place2, after.another], ["full", undefined, undefined]);
    assert.equal(Object.keys(after).length, before - 1);
    assert.equal((await put(url, this.#token, fullDevice, { place2: "back" })).status, 200);
  }

  /** An alert larger than the limit can be disabled and removed, but not grown. */
  async assertLargeAlertOnlyShrinks(url: string): Promise<void> {
    const { largeAlert, largeAlertId } = this.#filled;
    if (largeAlertId === undefined) return;
    const at = `${url}/v3/alerts/${largeAlertId}`;
    assert.equal((await send(at, this.#token, "GET")).body.targets.length, largeAlert.targets.length);
    const disabled = await send(at, this.#token, "PUT", { ...largeAlert, enable: false });
    assert.deepEqual([disabled.status, disabled.body.enable], [200, false], JSON.stringify(disabled.body));
    const grown = await send(at, this.#token, "PUT", { ...largeAlert, msg: "more" });
    assert.deepEqual([grown.status, grown.body.error], [409, "limit_reached"]);
    assert.equal((await send(at, this.#token, "DELETE")).status, 200);
    assert.equal((await send(at, this.#token, "GET")).status, 404);
  }
}
