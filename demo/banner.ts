import { relative, resolve } from "node:path";
import { demoSimulator } from "../src/cli/demo-simulator.ts";
import type { Service } from "../src/service/service.ts";
import { type DemoAccess, tenantName } from "./access.ts";
import type { DemoEcosystem } from "./ecosystems/ecosystem.ts";
import { type House, structureName } from "./house.ts";

const defaultFolder = "./breezeway-data";

export interface BannerParts {
  readonly version: string;
  readonly house: House;
  readonly service: Pick<Service, "baseUrl">;
  readonly ecosystem: Pick<DemoEcosystem, "url" | "firstScene">;
  readonly access: Pick<DemoAccess, "login" | "appId" | "accessTokenFile" | "secTokenFile">;
  readonly folder: string;
  readonly consoleLink: string;
}

/** The text that the terminal shows after the start. Every address and command in it works when copied. */
export function banner({ version, house, service, ecosystem, access, folder, consoleLink }: BannerParts): string {
  const { baseUrl } = service;
  const { login, appId } = access;
  const dataFlag =
    resolve(folder) === resolve(defaultFolder) ? "" : ` \\\n    --data ${shellQuoted(shownPath(folder))}`;
  const simulatorFlag = demoSimulator() === ecosystem.url ? "" : ` --simulator ${ecosystem.url}`;
  return `
  Breezeway ${version}   demo house "${structureName}" is live

${consoleLines(consoleLink)}
  API docs   ${baseUrl}/docs
  Simulator  ${ecosystem.url}
             plays the house and the cloud of its maker
  Data       ${shownPath(folder)}
             holds everything; delete the folder to start over
  Login      user ${login.name}, password ${login.password}, appId ${appId}
             lives in the house; appId is the company (tenant ${tenantName})
  Tokens     ${shownPath(access.accessTokenFile)}
             access token of the company: reads all its users at /v3
             ${shownPath(access.secTokenFile)}
             security token of ${login.name}, for older clients (/adaptor, /zdk)

  Try
  npx breezeway sim trigger ${ecosystem.firstScene}${simulatorFlag}
  npx breezeway devices get ${house.deviceId} --watch${dataFlag}
  token=$(cat ${shellQuoted(shownPath(access.accessTokenFile))})
  curl -s ${baseUrl}/v3/devices/${house.deviceId} -H "Authorization: Bearer $token"

  Ctrl-C stops and keeps everything.

`;
}

/** The link stands alone in its line: it has up to 78 characters. */
export function consoleLines(link: string): string {
  return `  Console    opens once, within 30 minutes; Enter prints another link
  ${link}`;
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
