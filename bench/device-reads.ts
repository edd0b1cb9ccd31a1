import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { cpuPerRequest, inMicroseconds, ratios, type Side, summary } from "./comparison.ts";
import { Load } from "./load.ts";
import { MeasuredProcess } from "./measured-process.ts";
import { type DevicesOfSize, readableDevices } from "./readable-devices.ts";
import { getRequest } from "./requests.ts";
import type { Bar, Result, Row } from "./row.ts";

const devicesOfSize = 10;
/** As many to the service as to the references: what is asked less often is compiled later. */
const requests = { small: 6_000, full: 3_000, reference: 6_000, refused: 3_000 };

/** What clients ask for most: a device of their user. */
export const deviceReads: Row = {
  name: "device-reads",
  async measure(tell) {
    tell(`linking ${2 * devicesOfSize} accounts`);
    const { accounts, small, full } = await readableDevices(devicesOfSize);
    await using finishing = new AsyncDisposableStack();
    finishing.use(accounts);
    const service = finishing.use(await MeasuredProcess.service(accounts.folder.settings));
    await accounts.untilAllAre("live");
    const load = finishing.use(new Load(service));
    /** A reference that answers what the service has answered. */
    const reference = async (name: string, size: DevicesOfSize): Promise<Side> => {
      const read = inTurn(size)();
      const answerFile = join(accounts.folder.path, `${name}-${size.attributes}.json`);
      writeFileSync(answerFile, checked(await load.body(read), size));
      const process = finishing.use(await MeasuredProcess.reference(name, answerFile));
      return { load: finishing.use(new Load(process)), requests: requests.reference, next: () => read };
    };

    tell("reading, in turns with the references");
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
    tell(inMicroseconds(cpu));
    const bare = "node:http that sends the same bytes";
    return [
      reads(small, bare, ratios(cpu["as bare bytes"], cpu.small), { atLeast: 0.8 }),
      reads(small, "a Fastify route that sends the same bytes", ratios(cpu["by Fastify"], cpu.small), {
        atLeast: 1.25,
      }),
      reads(full, bare, ratios(cpu["as many bare bytes"], cpu.full), { atLeast: 0.7 }),
      {
        // More than the check alone: an unknown path is refused before anything of the request is looked at.
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

/** A device of another size would be another measurement. */
function checked(body: Buffer, { attributes }: DevicesOfSize): Buffer {
  const count = Object.keys(JSON.parse(body.toString()).attributes).length;
  if (count !== attributes) throw new Error(`a device has ${count} attributes, not ${attributes}`);
  return body;
}

function reads({ attributes }: DevicesOfSize, reference: string, figures: readonly number[], bar: Bar): Result {
  const what = `GET of a device with ${attributes} attributes, requests per CPU second`;
  return { what, reference, ...summary(figures), unit: "x", bar };
}
