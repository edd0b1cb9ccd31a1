import type { AccountDocument, DeviceKind, SmokeCoAlarm, Structure, Thermostat } from "./account-document.ts";
import { opaqueId } from "./random.ts";

/**
 * An account as scenes see it: its document, what was taken out of it and may come back, and where its next ids come
 * from. A scene makes a new home of an old one.
 */
export interface Home {
  readonly document: AccountDocument;
  readonly removedDevices: readonly RemovedDevice[];
  readonly removedStructures: readonly RemovedStructure[];
  readonly idSource: string;
  readonly idsGiven: number;
}

export interface RemovedDevice {
  readonly kind: DeviceKind;
  readonly device: Thermostat | SmokeCoAlarm;
}

export interface RemovedStructure {
  readonly structure: Structure;
  readonly devices: readonly RemovedDevice[];
}

/** A home without structures. The id source decides every id in it: the same source, the same ids. */
export function emptyHome(idSource: string, accessToken: string): Home {
  const metadata = { access_token: accessToken, client_version: 1, user_id: opaqueId(`${idSource}/user`, 32) };
  return {
    document: { devices: {}, structures: {}, metadata },
    removedDevices: [],
    removedStructures: [],
    idSource,
    idsGiven: 0,
  };
}

/** The next id of the home, and the home that has given it. */
export function takeId(home: Home, length: number): [id: string, home: Home] {
  const idsGiven = home.idsGiven + 1;
  return [opaqueId(`${home.idSource}/${idsGiven}`, length), { ...home, idsGiven }];
}
