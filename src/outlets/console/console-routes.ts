import { type Answer, pageAnswer, redirectAnswer } from "../../http/answer/answer.ts";
import { errorFields } from "../../http/answer/error-response.ts";
import { type NoticeCookie, noticeCookie } from "../../http/answer/notice-cookie.ts";
import { refusals } from "../../http/answer/refusal.ts";
import { formBody } from "../../http/request/body-types.ts";
import type { Incoming, Pairs } from "../../http/request/incoming.ts";
import type { Route } from "../../http/routes.ts";
import { BadParameter, OperatorForbidden, PasswordNeeded } from "../../model/errors.ts";
import { type AdminActs, type AdminCall, memberName } from "../../operators/admin-call.ts";
import type { OpenIdSignIn } from "../../operators/openid/openid-sign-in.ts";
import { mayDo, type Operator } from "../../operators/operator.ts";
import type { Operators } from "../../operators/operators.ts";
import type { Page } from "../../web/page.ts";
import { alarmBand } from "./alarm-band.ts";
import { answerPage } from "./answer-page.ts";
import { auditCsvRoute } from "./audit-csv.ts";
import { browserScripts, scriptRoute } from "./browser-scripts.ts";
import { type AddedPage, type ConsoleAdditions, noAdditions } from "./console-additions.ts";
import { describeAction, describeAddedForm, describePage } from "./console-descriptions.ts";
import type { ConsolePage, PageContext, TenantChoice } from "./console-page.ts";
import { notePage } from "./entry-pages.ts";
import { consoleHeaders, consolePaths, entryRoutes, ownPath } from "./entry-routes.ts";
import { consolePage, type Frame, fragments } from "./frame.ts";
import { inWordsOfForm } from "./kit/refused.ts";
import { type LiveRouteParts, liveRoute } from "./live-route.ts";
import { openIdRoutes } from "./openid-routes.ts";
import { operatorCookie } from "./operator-cookie.ts";
import { consolePages } from "./pages.ts";
import { secretPage } from "./secret-page.ts";
import { addressByName } from "./user-by-name.ts";

export interface ConsoleRouteParts extends LiveRouteParts {
  readonly operators: Operators;
  readonly administration: AdminActs;
  readonly baseUrl: () => string;
  readonly nowMs: () => number;
  readonly ecosystems: readonly string[];
  /** Undefined without an OpenID provider. */
  readonly openId: OpenIdSignIn | undefined;
  readonly additions?: ConsoleAdditions | undefined;
}

/** The console: the pages on which operators come in, the pages of the list, and one address for their actions. */
export function consoleRoutes(parts: ConsoleRouteParts): readonly Route[] {
  const { operators, administration, baseUrl, openId, additions = noAdditions } = parts;
  const cookie = operatorCookie(baseUrl);
  const scripts = browserScripts();
  const [overview, ...others] = consolePages;
  const pages = [overview!, ...additions.pages, ...others];
  const frame = { pages, script: scripts.entry, badge: additions.badge };
  return [
    ...entryRoutes({ operators, baseUrl, cookie, openIdLabel: openId?.label, hint: additions.entryHint }),
    ...openIdRoutes({ openId, operators, cookie, baseUrl }),
    liveRoute(parts),
    scriptRoute(scripts),
    ...pages.map((page) => pageRoute(page, parts, frame)),
    ...additions.pages.flatMap((page) => (page.act ? [addedFormRoute(page, page.act.bind(page), parts)] : [])),
    auditCsvRoute(administration),
    actionRoute(administration, doneCookie(baseUrl)),
  ];
}

/** The title as a part of an operation's id. */
const idOf = ({ title }: ConsolePage) =>
  title
    .split(/\W+/)
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join("");

function pageRoute(page: ConsolePage, parts: ConsoleRouteParts, frame: Frame): Route {
  const inPath = [...page.path.matchAll(/:(\w+)/g)].map(([, name]) => name!);
  return {
    access: "operator",
    need: "read",
    subject: page.subject,
    pages: consolePaths,
    errors: "page",
    methods: ["GET"],
    path: `/console${page.path}`,
    description: describePage(`showConsole${idOf(page)}`, page.title, inPath, page.query),
    async answer(incoming, operator) {
      const context = await contextOf(incoming, operator, parts);
      const byName = await addressByName(page, context, incoming.query);
      if (byName !== undefined) return redirectAnswer(303, byName);
      const preview = await page.preview?.(context);
      if (preview) return pageAnswer(200, framable(preview), { ...consoleHeaders, "x-frame-options": "SAMEORIGIN" });
      const all = { alarms: await alarmBand(page, context), ...(await page.render(context)) };
      if (context.parameter("parts") === undefined) {
        const headers = context.done === undefined ? {} : { "set-cookie": doneCookie(parts.baseUrl).clear() };
        return pageAnswer(200, consolePage(page, frame, context, all), { ...consoleHeaders, ...headers });
      }
      const some = Object.fromEntries(Object.entries(all).filter(([name]) => context.wants(name)));
      return fragmentAnswer(fragments(some, page.partsNotRefreshed).text, context.nowMs);
    },
  };
}

/** The forms of a page that an embedding program adds. */
function addedFormRoute(page: AddedPage, act: NonNullable<AddedPage["act"]>, parts: ConsoleRouteParts): Route {
  const path = `/console${page.path}`;
  return {
    access: "operator",
    need: "change",
    subject: page.subject,
    pages: consolePaths,
    errors: "page",
    methods: ["POST"],
    path,
    description: describeAddedForm(`sendConsole${idOf(page)}`, page.title),
    async answer(incoming, operator) {
      const done = await act(formOf(incoming), await contextOf(incoming, operator, parts));
      if ("to" in done) return redirectAnswer(303, ownPath(done.to));
      return pageAnswer(409, didNotWork(done.refusal, path), consoleHeaders);
    },
  };
}

/** Reads a form. A field that was not sent is empty. */
function formOf({ body }: Incoming): (name: string) => string {
  if (body.kind === "json") throw refusals.wrongContentType(formBody);
  const pairs = body.kind === "form" ? body.pairs : [];
  return (name) => pairs.find(([key]) => key === name)?.[1] ?? "";
}

const didNotWork = (sentence: string, to: string) => notePage("That did not work", sentence, { words: "Back", to });

/** A preview is shown in a frame of the console, and nowhere else. */
function framable(page: Page): Page {
  const contentSecurityPolicy = page.contentSecurityPolicy.replace("frame-ancestors 'none'", "frame-ancestors 'self'");
  return { ...page, contentSecurityPolicy };
}

/** `x-page-time`: when the parts were made, for a page that shows how old it is. */
function fragmentAnswer(body: string, nowMs: number): Answer {
  const headers = { "content-type": "text/html; charset=utf-8", "x-page-time": String(nowMs), ...consoleHeaders };
  return { status: 200, headers, body };
}

/** What the last form has done. */
const doneCookie = (baseUrl: () => string) =>
  noticeCookie(baseUrl, { plainName: "breezeway-console-done", namesPort: true });

async function contextOf(
  { query, pathParameters, source, cookies, target }: Incoming,
  operator: Operator,
  { administration, baseUrl, nowMs, ecosystems }: ConsoleRouteParts,
): Promise<PageContext> {
  const call: PageContext["call"] = (act, input = {}) => administration.runAs({ operator, source }, act, input);
  const { tenants } = (await call("tenant list")) as { readonly tenants: readonly TenantChoice[] };
  const parameter = (name: string) => pathParameters[name] ?? query.find(([key]) => key === name)?.[1];
  const chosen = query.find(([key]) => key === "tenant")?.[1];
  const tenant =
    tenants.find(({ tenantId }) => String(tenantId) === chosen) ?? (tenants.length === 1 ? tenants[0] : undefined);
  const parts = parameter("parts")?.split(",");
  let alarms: ReturnType<PageContext["alarms"]> | undefined;
  return {
    operator,
    tenants,
    tenant,
    done: parameter("parts") === undefined ? doneCookie(baseUrl).read(cookies, target) : undefined,
    parameter,
    wants: (part) => parts === undefined || parts.includes(part),
    address(path, more = {}) {
      const kept = chosen !== undefined && tenant ? { tenant: String(tenant.tenantId), ...more } : more;
      const search = new URLSearchParams(kept).toString();
      return `/console${path}${search === "" ? "" : `?${search}`}`;
    },
    call,
    async callIfAllowed(act, input) {
      try {
        return await call(act, input);
      } catch (error) {
        if (error instanceof OperatorForbidden) return undefined;
        throw error;
      }
    },
    callOf: (act) => administration.calls.find((one) => one.act === act && mayDo(operator, one.need, one.subject)),
    alarms: () => (alarms ??= call("home alarms")),
    ecosystems,
    baseUrl: baseUrl(),
    nowMs: nowMs(),
  };
}

/** Every action of a page comes here, with the name of a command and its options. The command checks the role. */
function actionRoute(administration: AdminActs, notice: NoticeCookie): Route {
  return {
    access: "operator",
    need: "read",
    subject: "self",
    pages: consolePaths,
    errors: "page",
    methods: ["POST"],
    path: "/console/do",
    bodyBytes: 262_144,
    description: describeAction,
    async answer(incoming, operator) {
      const { body, source } = incoming;
      const field = formOf(incoming);
      const pairs = body.kind === "form" ? body.pairs : [];
      // The query says that the page shall tell what was done; only a cookie tells it, once and after a success.
      const [to, tells] = withoutDone(ownPath(field("to")));
      const call = administration.calls.find(({ act }) => act === field("act"));
      if (!call) throw new BadParameter("act", "There is no such action.");
      try {
        const answer = await administration.runAs({ operator, source }, call.act, formInput(call, pairs));
        if (call.showsAnswer) return pageAnswer(200, answerPage(call.summary, answer, to), consoleHeaders);
        if (call.need === "secret") return pageAnswer(200, secretPage(answer, to), consoleHeaders);
        return redirectAnswer(303, to, tells ? { "set-cookie": notice.set(call.act, to) } : {});
      } catch (error) {
        if (error instanceof PasswordNeeded) {
          // Nothing was done: after the password comes the form again, never the page that says "Done".
          const again = field("form") === "" ? to : ownPath(field("form"));
          return redirectAnswer(303, `${consolePaths.password}?to=${encodeURIComponent(again)}`);
        }
        const { status, sentence } = errorFields(error);
        if (status >= 500) throw error;
        return pageAnswer(status, didNotWork(inWordsOfForm(sentence), to), consoleHeaders);
      }
    },
  };
}

/** The path without `done`, and whether it had it. */
function withoutDone(path: string): readonly [path: string, hadDone: boolean] {
  const [before, search = ""] = path.split("?", 2);
  const kept = new URLSearchParams(search);
  if (!kept.has("done")) return [path, false];
  kept.delete("done");
  return [kept.size === 0 ? before! : `${before}?${kept}`, true];
}

/**
 * The input of a command from a form: lists are repeated fields or lines, flags are checked boxes, and the members of an
 * object are fields such as `settings.project-id`.
 */
function formInput({ fields = [], path }: AdminCall, pairs: Pairs): Readonly<Record<string, unknown>> {
  const input: Record<string, unknown> = {};
  const known = [...path.matchAll(/:(\w+)/g)].map(([, option]) => ({ option: option!, kind: "text" as const }));
  for (const field of [...known, ...fields]) {
    const { option, kind } = field;
    if (kind === "object") {
      const members = pairs.filter(([key, value]) => key.startsWith(`${option}.`) && value !== "");
      if (members.length > 0) {
        input[option] = Object.fromEntries(members.map(([key, value]) => [key.slice(option.length + 1), value]));
      }
      continue;
    }
    const values = pairs.filter(([key]) => key === option || key === memberName(field)).map(([, value]) => value);
    if (values.length === 0) continue;
    if (kind === "texts") input[option] = values.flatMap((value) => value.split(/\r?\n/)).filter((one) => one !== "");
    else if (kind === "flag") input[option] = values.at(-1) !== "" && values.at(-1) !== "false";
    else input[option] = values[0];
  }
  return input;
}
