import { type Html, html } from "../../../web/html.ts";
import type { Method } from "../../routes.ts";
import { accessOf } from "../access-descriptions.ts";
import { bodyParameters, contentTypesOf, type DescribedRoute, errorsOf, takesBody } from "../described-route.ts";
import type { AnswerDescription, ErrorDescription, ParameterLocation } from "../description.ts";
import { shellCode } from "./code.ts";
import { browserAddress, curl } from "./curl.ts";
import { countOf, parameterFields, schemaFields } from "./fields.ts";
import { answerPanel, panel } from "./panel.ts";
import { renderText } from "./render-text.ts";
import { sampleRequest } from "./sample-request.ts";

/** One operation: its description, then request and answers, which stand beside it on wide screens. */
export function operationSection(described: DescribedRoute, baseUrl: string): Html {
  const { methods, path, description } = described;
  const { operationId, summary } = description;
  const shownMethods = methods.filter((method) => method !== "HEAD");
  return html`<section class="operation" id="${operationId}" aria-labelledby="${operationId}-title">
<div class="telling">
<h3 id="${operationId}-title"><a href="#${operationId}">${summary}</a></h3>
<p class="address">${shownMethods.map(methodMark)} <code>${breakable(path)}</code></p>
${description.words.map((paragraph) => html`<p>${renderText(paragraph)}</p>`)}
<p class="access">${renderText(accessOf(described).words)}</p>
${parameterSection(described)}
${bodySection(described)}
${answerSection(description.answers)}
${errorSection(errorsOf(described))}
</div>
<div class="showing">
${requestPanel(described, baseUrl)}
${description.answers.map(({ status, content }) => answerPanel(status, content, `Answer ${status}: ${summary}`) ?? html``)}
</div>
</section>`;
}

export function methodMark(method: Method): Html {
  return html`<span class="method ${method.toLowerCase()}">${method}</span>`;
}

/** A long path prefers to break after a slash. */
function breakable(path: string): Html {
  return path
    .split(/(?<=\/)(?!$)/)
    .reduce((written, part, place) => html`${written}${place > 0 ? html`<wbr>` : undefined}${part}`, html``);
}

function requestPanel(described: DescribedRoute, baseUrl: string): Html | undefined {
  const label = `Request: ${described.description.summary}`;
  const request = sampleRequest(described);
  if (!request) return undefined;
  if (described.errorShape !== "page") return panel("Request", label, shellCode(curl(request, baseUrl)));
  return panel("Open in a browser", label, shellCode(browserAddress(request, baseUrl)), "url");
}

/** Where a parameter is sent. */
const places: Readonly<Record<ParameterLocation, string>> = {
  path: "in the path",
  header: "in the header",
  query: "in the query",
  form: "in the form",
  body: "in the body",
  queryOrForm: "query or form",
  queryOrBody: "query or body",
};

function parameterSection(described: DescribedRoute): Html | undefined {
  const parameters = [...accessOf(described).credentials, ...(described.description.parameters ?? [])];
  if (parameters.length === 0) return undefined;
  return html`<h4>Parameters</h4>${parameterFields(parameters, places)}`;
}

function bodySection(described: DescribedRoute): Html | undefined {
  const { methods, description } = described;
  if (!methods.some(takesBody)) return undefined;
  const { body } = description;
  if (body) {
    return html`<h4>Body</h4><p>${renderText(`${body.schema.description} As \`${body.contentType}\`.`)}</p>`;
  }
  const parameters = bodyParameters(described);
  if (parameters.length === 0) return undefined;
  const types = contentTypesOf(parameters).map((type) => `\`${type}\``);
  return html`<p class="soft">${renderText(`The body is ${types.join(" or ")}.`)}</p>`;
}

function answerSection(answers: readonly AnswerDescription[]): Html {
  return html`<h4>Returns</h4><ul class="answers">${answers.map(answerRow)}</ul>`;
}

function answerRow({ status, meaning, headers = {}, content }: AnswerDescription): Html {
  const schema = content?.schema.items ?? content?.schema;
  const fields = schema?.properties && schemaFields(schema);
  return html`<li><p><span class="status s${String(status)[0]}">${status}</span> ${renderText(meaning)}</p>
${Object.entries(headers).map(([name, { description = "" }]) => html`<p class="soft"><code>${name}</code> ${renderText(description)}</p>`)}
${fields && html`<details><summary>${countOf(schema)}</summary>${fields}</details>`}</li>`;
}

function errorSection(errors: readonly ErrorDescription[]): Html | undefined {
  if (errors.length === 0) return undefined;
  return html`<h4>Errors</h4>${errorList(errors)}`;
}

export function errorList(errors: readonly ErrorDescription[]): Html {
  return html`<ul class="errors">${errors.map(
    ({ status, code, when }) =>
      html`<li><span class="status s${String(status)[0]}">${status}</span> <p><code>${code}</code> ${renderText(when)}</p></li>`,
  )}</ul>`;
}
