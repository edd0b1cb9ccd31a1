import { type Html, html } from "../../../web/html.ts";

/** The steps of docs/outlets, in short. The form of the third one prints what to enter in the maker's console. */
const steps: Readonly<Record<string, readonly string[]>> = {
  "google-home": [
    "In the Google Cloud console, choose the project and enable the HomeGraph API.",
    "Create a service account without a role, and add a key of the type JSON.",
    "Connect Google Home here, with the id of the project and the key.",
    "In the Google Home developer console, add a cloud-to-cloud integration, and enter what you read after the form.",
    "Check the outlet on its page. Then link the service in the Google Home app.",
  ],
  alexa: [
    "In the Alexa developer console, create a skill of the type Smart Home with payload version v3. Note its skill id, and your vendor id.",
    "Under Permissions, switch on Send Alexa Events. Note the client id and the client secret.",
    "Connect Alexa here, with these ids and the secret.",
    "Create the Lambda function from deploy/alexa/index.mjs, with the address of the directives that you read after the form.",
    "Enter the function as the skill's default endpoint, and fill in Account Linking with what you read after the form.",
    "Check the outlet on its page. Then enable the skill in the Alexa app.",
  ],
};

/** How an assistant is set up, from the maker's console to the first user. */
export function setUpSteps(kind: string, title: string): Html {
  return html`<h3>${title}</h3>
<ol>${(steps[kind] ?? []).map((step) => html`<li>${step}</li>`)}</ol>
<p class="small">In full: docs/outlets/${kind}.md</p>`;
}
