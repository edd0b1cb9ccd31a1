import type { AccountDocument, DeviceKind, SmokeCoAlarm, Structure, Thermostat } from "./account-document.ts";
import { opaqueId } from "./random.ts";

/** The state that scenes change: the document, removed objects that may return, and the source of the next ids. */
export interface Home {
  readonly document: AccountDocument;
  readonly removedDevices: readonly RemovedDevice[];
  readonly removedStructures: readonly RemovedStructure[];
  readonly idSource: string;
  readonly issuedIdCount: number;
}

export interface RemovedDevice {
  readonly kind: DeviceKind;
  readonly device: Thermostat | SmokeCoAlarm;
}

export interface RemovedStructure {
  readonly structure: Structure;
  readonly devices: readonly RemovedDevice[];
}

/** A home without structures. The same id source gives the same ids. */
export function emptyHome(idSource: string, accessToken: string): Home {
  const metadata = { access_token: accessToken, client_version: 1, user_id: opaqueId(`${idSource}/user`, 32) };
  return {
    document: { devices: {}, structures: {}, metadata },
    removedDevices: [],
    removedStructures: [],
    idSource,
    issuedIdCount: 0,
  };
}

/** The next id, and the home with the advanced counter. */
export function takeId(home: Home, length: number): [id: string, home: Home] {
  const issuedIdCount = home.issuedIdCount + 1;
  return [opaqueId(`${home.idSource}/${issuedIdCount}`, length), { ...home, issuedIdCount }];
}
