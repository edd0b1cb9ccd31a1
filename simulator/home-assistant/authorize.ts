import { type Call, readForm } from "../http/call.ts";
import { sendPage } from "../pages/page.ts";
import type { Instance } from "./instance.ts";
import { type LoginQuestion, loginPage, owner, refusedPage } from "./pages/login-page.ts";
import type { Tokens } from "./tokens.ts";

export interface AuthorizeParts {
  readonly instance: Instance;
  readonly tokens: Tokens;
}

/** The login page, and its form: after the login, the browser goes back to the client with a code. */
export async function answerAuthorize(call: Call, { instance, tokens }: AuthorizeParts): Promise<void> {
  const isForm = call.method === "POST";
  const fields = isForm ? await readForm(call) : call.query;
  const question = questionIn(fields);
  if (typeof question === "string") return sendPage(call, 400, refusedPage(question));
  const isOwner = fields.get("username") === owner.name && fields.get("password") === owner.password;
  if (!isForm || !isOwner) {
    if (isForm) tokens.failures += 1;
    return sendPage(call, 200, loginPage(instance.locationName, question, isForm));
  }
  const location = new URL(question.redirectUri);
  location.searchParams.set("code", tokens.addCode(question.clientId));
  location.searchParams.set("state", question.state);
  call.response.writeHead(302, { Location: location.href, "Content-Length": 0 }).end();
}

/** A client is known by its address, and may only be called back at the same host (IndieAuth). Otherwise a sentence. */
function questionIn(fields: URLSearchParams): LoginQuestion | string {
  const clientId = URL.parse(fields.get("client_id") ?? "");
  const redirectUri = URL.parse(fields.get("redirect_uri") ?? "");
  if (!clientId || !/^https?:$/.test(clientId.protocol)) return "Invalid client id.";
  if (redirectUri?.origin !== clientId.origin) return "Invalid redirect URI.";
  const state = fields.get("state") ?? "";
  return { clientId: fields.get("client_id")!, redirectUri: redirectUri.href, state };
}
