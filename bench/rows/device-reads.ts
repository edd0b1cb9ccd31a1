import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { cpuPerRequest, inMicroseconds, ratios, type Side, summary } from "../comparison.ts";
import { Load } from "../load.ts";
import { MeasuredProcess } from "../measured-process.ts";
import { type DevicesOfSize, readableDevices } from "../readable-devices.ts";
import { getRequest } from "../requests.ts";
import type { Bar, Result, Row } from "../row.ts";

const devicesOfSize = 10;
/** The service gets as many requests as the references: code that runs less often is optimised later. */
const requests = { small: 6_000, full: 3_000, reference: 6_000, refused: 3_000 };

/** The most frequent call of clients: reading a device. */
export const deviceReads: Row = {
  name: "device-reads",
  async measure(progress) {
    progress(`linking ${2 * devicesOfSize} accounts`);
    const { accounts, small, full } = await readableDevices(devicesOfSize);
    await using finishing = new AsyncDisposableStack();
    finishing.use(accounts);
    const service = finishing.use(await MeasuredProcess.service(accounts.folder.settings));
    await accounts.untilAllAre("live");
    const load = finishing.use(new Load(service));
    /** Starts a reference that sends the answer of the service. */
    const reference = async (name: string, size: DevicesOfSize): Promise<Side> => {
      const read = inTurn(size)();
      const answerFile = join(accounts.folder.path, `${name}-${size.attributes}.json`);
      writeFileSync(answerFile, checked(await load.body(read), size));
      const process = finishing.use(await MeasuredProcess.reference(name, answerFile));
      return { load: finishing.use(new Load(process)), requests: requests.reference, next: () => read };
    };

    progress("reading, in turns with the references");
    const { accessToken } = small.devices[0]!;
    const nobody = getRequest("/v3/users/nobody", accessToken);
    const nothing = getRequest("/v3/nothing/nobody", accessToken);
    const cpu = await cpuPerRequest({
      small: { load, requests: requests.small, next: inTurn(small) },
      "as bare bytes": await reference("same-bytes", small),
      "by Fastify": await reference("fastify-route", small),
      full: { load, requests: requests.full, next: inTurn(full) },
      "as many bare bytes": await reference("same-bytes", full),
      "no such user": { load, requests: requests.refused, next: () => nobody, status: 404 },
      "no such path": { load, requests: requests.refused, next: () => nothing, status: 404 },
    });
    progress(inMicroseconds(cpu));
    const bare = "node:http that sends the same bytes";
    return [
      reads(small, bare, ratios(cpu["as bare bytes"], cpu.small), { atLeast: 0.8 }),
      reads(small, "a Fastify route that sends the same bytes", ratios(cpu["by Fastify"], cpu.small), {
        atLeast: 1.25,
      }),
      reads(full, bare, ratios(cpu["as many bare bytes"], cpu.full), { atLeast: 0.7 }),
      {
        // An upper bound: an unknown path is refused before the rest of the request is examined.
        what: "CPU that a bearer check adds at most, to the refusal of an unknown user",
        reference: "the refusal of an unknown path",
        ...summary(cpu["no such user"].map((microseconds, round) => microseconds - cpu["no such path"][round]!)),
        unit: "us",
        bar: null,
      },
    ];
  },
};

function inTurn({ devices }: DevicesOfSize): () => string {
  const reads = devices.map(({ path, accessToken }) => getRequest(path, accessToken));
  let next = 0;
  return () => reads[next++ % reads.length]!;
}

/** Fails if the device does not have the expected number of attributes. */
function checked(body: Buffer, { attributes }: DevicesOfSize): Buffer {
  const count = Object.keys(JSON.parse(body.toString()).attributes).length;
  if (count !== attributes) throw new Error(`a device has ${count} attributes, not ${attributes}`);
  return body;
}

function reads({ attributes }: DevicesOfSize, reference: string, figures: readonly number[], bar: Bar): Result {
  const what = `GET of a device with ${attributes} attributes, requests per CPU second`;
  return { what, reference, ...summary(figures), unit: "x", bar };
}
