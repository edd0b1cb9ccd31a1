import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { runCommand } from "../cli/run-command.ts";
import type { Deployment } from "../set-up/deployment.ts";
import { killableDeployment } from "../stories/killable-deployment.ts";

const devicesPerUser = 10_000;

interface Plan {
  readonly database: Deployment;
  readonly devices: number;
}

/**
 * A company sends a large batch while a user reads a device. The service is killed in the middle, and the batch is
 * repeated with its key. Prints how long the reads took before and during the batch, and the memory of the service.
 */
export async function provisionOverAKill(t: TestContext, { database, devices }: Plan): Promise<void> {
  const house = await killableDeployment(t, database);
  const { environment, nodes } = house;
  const userIds: number[] = [];
  for (let n = 0; n * devicesPerUser < devices; n++) {
    const command = ["user", "add", "--tenant", "Story", "--name", `owner ${n}`, "--json"];
    userIds.push(JSON.parse((await runCommand(command, { environment, input: "a password\n" })).stdout).userId);
  }
  const command = ["client", "add", "--tenant", "Story", "--name", "Company", "--kind", "enterprise", "--json"];
  const client = JSON.parse((await runCommand(command, { environment })).stdout);
  await nodes.start();
  const form = { ...client, grant_type: "client_credentials" };
  const issued = await fetch(`${house.baseUrl}/oauth2/access_token`, {
    method: "POST",
    body: new URLSearchParams(form),
  });
  const { access_token: token } = (await issued.json()) as { access_token: string };
  const reader = await house.authorizeClient();
  const userId = (await reader.call("/users")).body[0];
  const added = await fetch(`${house.baseUrl}/v3/devices`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ userId, deviceTypeName: "Reading lamp", deviceName: "Lamp", attributes: { power: "on" } }),
  });
  const { deviceId } = (await added.json()) as { deviceId: number };

  const reads = new Reads(async () => {
    const { status } = await reader.call(`/devices/${deviceId}`);
    assert.equal(status, 200);
  });
  await reads.measure(300);
  t.diagnostic(`reads before: ${reads.figures()}`);

  /** In pieces of 200 lines, as a program reads a file. */
  async function* pieces() {
    for (let from = 0; from < devices; from += 200) {
      const numbers = Array.from({ length: Math.min(200, devices - from) }, (_, n) => from + n);
      const lines = numbers.map((n) => ({
        userId: userIds[Math.floor(n / devicesPerUser)],
        deviceTypeName: "Lamp",
        deviceName: `lamp ${n}`,
        room: "Hall",
        attributes: { power: "on", level: n % 100 },
      }));
      yield new TextEncoder().encode(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    }
  }
  /** Sends the batch, and passes each answer line on until it ends or breaks off. */
  const send = async (heard: (line: { line: number; status: number; deviceId: number }) => void) => {
    const answer = await fetch(`${house.baseUrl}/v3/devices:batch?mode=each`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/x-ndjson",
        "idempotency-key": "the batch",
      },
      body: ReadableStream.from(pieces()),
      duplex: "half",
    } as RequestInit);
    assert.equal(answer.status, 200);
    let rest = "";
    for await (const piece of answer.body!.pipeThrough(new TextDecoderStream())) {
      const texts = (rest + piece).split("\n");
      rest = texts.pop()!;
      for (const text of texts) heard(JSON.parse(text));
    }
  };

  const first = new Map<number, number>();
  let killing: Promise<void> | undefined;
  const rss = new Memory(() => house.baseUrl);
  await rss.sample();
  const startedMs = performance.now();
  const during = reads.whileRunning(
    send(({ line, status, deviceId: id }) => {
      assert.equal(status, 201);
      first.set(line, id);
      if (first.size >= devices / 2) killing ??= nodes.kill();
      else if (first.size % Math.ceil(devices / 20) === 0) void rss.sample();
    }).catch(() => undefined),
  );
  await during;
  assert.ok(killing, "the batch ended before the service was killed");
  await killing;
  const killedMs = performance.now() - startedMs;
  t.diagnostic(`reads during: ${reads.figures()}`);
  t.diagnostic(`${first.size} devices in ${Math.round(killedMs)} ms; memory ${rss.figures()}`);
  assert.ok(rss.growthBytes < 150e6, rss.figures());

  await nodes.start();
  const second = new Map<number, number>();
  await send(({ line, status, deviceId: id }) => {
    assert.equal(status, 201);
    second.set(line, id);
  });
  assert.equal(second.size, devices);
  for (const [line, id] of first) assert.equal(second.get(line), id, `line ${line}`);
  const listed = new Set<number>();
  for (let cursor = ""; ; ) {
    const page = await fetch(`${house.baseUrl}/v3/devices?deviceTypeName=Lamp${cursor && `&cursor=${cursor}`}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const body = (await page.json()) as { devices: { deviceId: number }[]; cursor?: string };
    for (const device of body.devices) listed.add(device.deviceId);
    if (!body.cursor) break;
    cursor = encodeURIComponent(body.cursor);
  }
  assert.deepEqual(listed, new Set(second.values()));
}

/** Latencies of one read after another. */
class Reads {
  readonly #read: () => Promise<void>;
  #tookMs: number[] = [];

  constructor(read: () => Promise<void>) {
    this.#read = read;
  }

  async measure(count: number): Promise<void> {
    this.#tookMs = [];
    for (let n = 0; n < count; n++) await this.#one();
  }

  async whileRunning(work: Promise<unknown>): Promise<void> {
    this.#tookMs = [];
    let isOver = false;
    void work.finally(() => {
      isOver = true;
    });
    // The service may be killed before the batch notices it.
    while (!isOver) await this.#one().catch(() => undefined);
    await work;
  }

  figures(): string {
    const sorted = this.#tookMs.toSorted((a, b) => a - b);
    const at = (part: number) => (sorted[Math.floor(sorted.length * part)] ?? 0).toFixed(1);
    return `${sorted.length} reads, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${(sorted.at(-1) ?? 0).toFixed(1)} ms`;
  }

  async #one(): Promise<void> {
    const startedMs = performance.now();
    await this.#read();
    this.#tookMs.push(performance.now() - startedMs);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The resident memory of the service, from its metrics. */
class Memory {
  readonly #baseUrl: () => string;
  readonly #samples: number[] = [];

  constructor(baseUrl: () => string) {
    this.#baseUrl = baseUrl;
  }

  async sample(): Promise<void> {
    const text = await fetch(`${this.#baseUrl()}/metrics`).then(
      (answer) => answer.text(),
      () => "",
    );
    const [, bytes] = /^process_resident_memory_bytes (\S+)/m.exec(text) ?? [];
    if (bytes !== undefined) this.#samples.push(Number(bytes));
  }

  get growthBytes(): number {
    return Math.max(...this.#samples) - this.#samples[0]!;
  }

  figures(): string {
    return this.#samples.map((bytes) => `${Math.round(bytes / 1e6)} MB`).join(", ");
  }
}
