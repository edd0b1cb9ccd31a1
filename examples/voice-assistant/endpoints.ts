import type { Breezeway, Device } from "@breezeway/sdk";

/** A device that the assistant can address: a thermostat or an alarm of a linked home. */
export interface Endpoint {
  /** Stable while the home is linked, because an index stays with its device. */
  readonly endpointId: string;
  readonly friendlyName: string;
  readonly kind: "thermostat" | "alarm";
  readonly home: string;
}

const accountType = "EcosystemAccount";
const named = /^d\.structures\[(\d)\]\.d\.(thermostats|smokeCoAlarms)\[(\d+)\]\.name$/;

/** All endpoints in the user's homes. */
export async function endpointsOf(breezeway: Breezeway): Promise<readonly Endpoint[]> {
  const accounts = await breezeway.getDevices({ deviceTypeName: accountType });
  const devices = await Promise.all(accounts.map(({ deviceId }) => breezeway.getDevice(deviceId)));
  return devices.flatMap(endpointsIn);
}

function endpointsIn({ deviceId, attributes }: Device): readonly Endpoint[] {
  return Object.entries(attributes).flatMap(([name, { value }]): Endpoint[] => {
    const [, structure, kind, index] = named.exec(name) ?? [];
    if (structure === undefined) return [];
    const isThermostat = kind === "thermostats";
    return [
      {
        endpointId: `${deviceId}-${structure}-${isThermostat ? "thermostat" : "alarm"}-${index}`,
        friendlyName: String(value),
        kind: isThermostat ? "thermostat" : "alarm",
        home: String(attributes[`d.structures[${structure}].a.name`]?.value ?? ""),
      },
    ];
  });
}

/** Parses an endpoint id: the virtual device, and the prefix of the endpoint's attribute names. */
export function attributesOf(endpointId: string): { readonly deviceId: number; readonly prefix: string } | undefined {
  const [, device, structure, kind, index] = /^(\d+)-(\d)-(thermostat|alarm)-(\d+)$/.exec(endpointId) ?? [];
  if (device === undefined) return undefined;
  const list = kind === "thermostat" ? "thermostats" : "smokeCoAlarms";
  return { deviceId: Number(device), prefix: `d.structures[${structure}].d.${list}[${index}]` };
}
