"use strict";
const $ = (id) => document.getElementById(id);
const query = new URLSearchParams(location.search);
const request = { ticket: query.get("ticket") ?? "", callback: query.get("callback") ?? undefined };

async function ask(body) {
  const response = await fetch("/sign-in", {
    method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body),
  });
  return [response.status, await response.json()];
}

// The page that gets the token: that of the callback, or of one of the allowed origins.
function origin(answer) {
  const came = request.callback ?? document.referrer;
  const from = URL.canParse(came) ? new URL(came).origin : "";
  if (answer.origins.includes(from)) return `A page of ${from}`;
  return `A page of ${answer.origins.join(" or ")}`;
}

function show(answer) {
  $("error").textContent = "";
  $("controlForm").hidden = true;
  $("choice").hidden = false;
  $("purpose").textContent = `${origin(answer)} wants to use ${answer.container} as one of these accounts.`;
  $("accounts").replaceChildren(...answer.accounts.map((name) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = name;
    button.addEventListener("click", () => signIn(name));
    const item = document.createElement("li");
    item.append(button);
    return item;
  }));
}

async function open() {
  const [status, answer] = await ask(request).catch(() => [0, { reason: "The server does not answer." }]);
  if (status === 200) return show(answer);
  $("error").textContent = status === 403 && !request.controlToken ? "" : answer.reason;
  if (status !== 403) return;
  $("controlForm").hidden = false;
  $("control").focus();
}

async function signIn(account) {
  const [status, answer] = await ask({ ...request, account })
    .catch(() => [0, { reason: "The server does not answer." }]);
  if (status !== 200) {
    $("error").textContent = answer.reason;
    return;
  }
  if (answer.redirect) return location.replace(answer.redirect);
  $("choice").hidden = true;
  if (!window.opener) {
    $("done").textContent = "No page waits for this sign-in. Open it again from the app.";
    return;
  }
  // The browser delivers the message only to a page of the named origin.
  const message = { ckWebAuthToken: answer.ckWebAuthToken, ckSession: answer.ckWebAuthToken };
  for (const origin of answer.origins) window.opener.postMessage(message, origin);
  $("done").textContent = `Signed in as ${account}. You can close this page.`;
  window.close();
}

$("controlForm").addEventListener("submit", (event) => {
  event.preventDefault();
  request.controlToken = $("control").value;
  open();
});
$("nameForm").addEventListener("submit", (event) => {
  event.preventDefault();
  signIn($("name").value);
});
open();
