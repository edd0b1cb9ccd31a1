import type { AdminCall } from "../../operators/admin-call.ts";
import type { Operator, Subject } from "../../operators/operator.ts";
import type { Html } from "../../web/html.ts";
import type { Page } from "../../web/page.ts";

/** A page of the console. To add one, write a file in `pages/` and name it in `pages.ts` (docs/console.md). */
export interface ConsolePage {
  /** Below `/console`; "" for the first page. May hold parameters: `/users/:user`. */
  readonly path: string;
  readonly title: string;
  /** Its word in the navigation; without one it is reached from other pages only. */
  readonly navigationLabel?: string;
  /** What it shows: of tenants, of the whole deployment, or of the operator alone. */
  readonly subject: Subject;
  /** Further parameters of its query, such as filters. */
  readonly query?: readonly string[];
  /** Kinds of log entries after which the page's parts are read again at once: `link`, `attribute`, `thing` and others. */
  readonly refreshOn?: readonly string[];
  /** How often the page reads its parts, for values that no event announces; 4 seconds when left out. */
  readonly readEverySeconds?: number;
  /**
   * A whole page in place of the parts, if the address asks for one: it is shown in a frame of the page itself. Undefined
   * when the address asks for none.
   */
  readonly preview?: (context: PageContext) => Promise<Page | undefined>;
  /**
   * Parts that an open page does not read again: forms that a person fills in, and results of a long calculation. A
   * new address makes them anew.
   */
  readonly partsNotRefreshed?: readonly string[];
  /** The parts of the page by name, in order. `?parts=a,b` answers only those. */
  render(context: PageContext): Promise<PageParts>;
}

export type PageParts = Readonly<Record<string, Html | undefined>>;

export interface TenantChoice {
  readonly tenantId: number;
  readonly name: string;
}

/** The answer of `home alarms`. */
export interface SoundingAlarms {
  readonly alarms: readonly ShownAlarm[];
  readonly isComplete: boolean;
}

export interface ShownAlarm {
  readonly userId: number;
  readonly userName: string;
  readonly thingId: string;
  readonly deviceId: number;
  readonly source: string;
  readonly name: string | null;
  readonly room: string | null;
  readonly homeName: string | null;
  readonly level: "alarm" | "warning";
  readonly sensors: readonly ("smoke" | "carbonMonoxide")[];
  readonly stale: boolean;
  readonly confirmedTime: number | null;
}

/** What a page gets. */
export interface PageContext {
  readonly operator: Operator;
  /** The tenants that the operator reaches, and the one that the address chooses. */
  readonly tenants: readonly TenantChoice[];
  readonly tenant: TenantChoice | undefined;
  /** Whether the caller asks for this part. A part that takes long is made only then. */
  wants(part: string): boolean;
  /** The command that the form before this page has run; a reload of the page does not have it. */
  readonly done: string | undefined;
  /** A parameter of the path or of the query. */
  parameter(name: string): string | undefined;
  /** An address of the console that keeps the chosen tenant. */
  address(path: string, more?: Readonly<Record<string, string>>): string;
  /** Runs a call of /admin/v1 by the name of its command. The chosen tenant is not added by itself. */
  // biome-ignore lint/suspicious/noExplicitAny: each command has its own answer, which the OpenAPI document describes
  call(act: string, input?: Readonly<Record<string, unknown>>): Promise<any>;
  /** The same, or undefined when the operator's role does not allow it. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  callIfAllowed(act: string, input?: Readonly<Record<string, unknown>>): Promise<any>;
  /** A call by the name of its command; undefined when there is none, or the operator's role does not allow it. */
  callOf(act: string): AdminCall | undefined;
  /** The smoke and CO alarms that sound now, of all tenants that the operator reaches. Read once. */
  alarms(): Promise<SoundingAlarms>;
  /** The names of the ecosystems to which users may link a home. */
  readonly ecosystems: readonly string[];
  /** The address of the service for clients. */
  readonly baseUrl: string;
  readonly nowMs: number;
}
