import { relative, resolve } from "node:path";
import type { Service } from "../src/service/service.ts";
import { login, type TokenFiles, tenantName } from "./access.ts";
import type { DemoEcosystem } from "./ecosystems/ecosystem.ts";
import { type House, structureName } from "./house.ts";

const defaultFolder = "./breezeway-data";

export interface BannerParts {
  readonly version: string;
  readonly house: House;
  readonly service: Pick<Service, "baseUrl">;
  readonly ecosystem: Pick<DemoEcosystem, "url" | "sceneCommand">;
  readonly files: TokenFiles;
  readonly folder: string;
  readonly consoleLink: string;
}

/** The text that the terminal shows after the start. Every address and command in it works when copied. */
export function banner({ version, house, service, ecosystem, files, folder, consoleLink }: BannerParts): string {
  const { baseUrl } = service;
  const dataFlag = resolve(folder) === resolve(defaultFolder) ? "" : ` --data ${shellQuoted(shownPath(folder))}`;
  return `
  Breezeway ${version}   demo house "${structureName}" is live

  Console    ${consoleLink}   (opens once, 30 min)
  API docs   ${baseUrl}/docs
  Simulator  ${ecosystem.url}
  Data       ${shownPath(folder)}   (delete the folder to start over)
  Login      user ${login.name}, password ${login.password}, appId ${house.access.appId}
  Tokens     ${shownPath(files.accessTokenFile)}   (enterprise access token for /v3: reaches every user of tenant ${tenantName})
             ${shownPath(files.secTokenFile)}   (user ${login.name}'s secToken, for /adaptor and /zdk)

  Try        ${ecosystem.sceneCommand}
             npx breezeway devices get ${house.deviceId} --watch${dataFlag}
             curl -s ${baseUrl}/v3/devices/${house.deviceId} -H "Authorization: Bearer $(cat ${shellQuoted(shownPath(files.accessTokenFile))})"

  Ctrl-C stops and keeps everything.

`;
}

/** Relative to the current directory where the path is below it, else absolute. */
function shownPath(path: string): string {
  const near = relative(process.cwd(), resolve(path));
  return near === "" ? "." : near.startsWith("..") ? resolve(path) : `./${near}`;
}

/** Quotes an argument for a POSIX shell. */
export function shellQuoted(text: string): string {
  return /^[\w./@:=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
