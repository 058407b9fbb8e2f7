// The list of a page's keys, which a button and "?" open.

import { element } from "./page.js";

const EVERYWHERE = [["?", "Show these keys"]];
const LISTS = {
  overview: [["j k", "Next, previous session"], ["Enter", "Open the session"], ["Tab", "The answers to a question"], ["/", "Search"]],
  history: [["j k", "Next, previous event"], ["Enter", "Show the plan at that event"]],
  compare: [["Tab", "Next control"]],
};

/** The keys of a session's page: those to look around, and those of the acts that this person may do. */
async function steering() {
  const { onlyShows, mayNot = "" } = document.body.dataset;
  if (onlyShows !== undefined) return [["", [["j k", "Next, previous step"], ["n p", "Next, previous plan"]]]];
  const { ACTS } = await import("./table.js");
  const own = Object.entries(ACTS).filter(([name]) => !mayNot.split(" ").includes(name));
  const all = own.flatMap(([, { gestures }]) => gestures);
  const of = (...kinds) => all.filter(({ on }) => kinds.includes(on)).map(({ keys, label, help }) => [
    keys.join(" "), help.startsWith("set the") ? label : `${label}: ${help}`,
  ]);
  return [
    ["On a step", [
      ["j k ↓ ↑", "Next, previous step"], ...of("step", "remark"),
      ["s", "Select to run"], ["m Enter", "All actions"],
    ]],
    ["On a plan", [["n p", "Next, previous plan"], ...of("plan"), ["c", "Comment on the selected text"]]],
    ["Anywhere", [["Escape", "Close what is open; what you wrote is kept"]]],
  ];
}

async function showKeys() {
  const page = document.querySelector("main")?.classList[0];
  const sections = page === "session" ? await steering() : [["", [...(LISTS[page] ?? [])]]];
  const line = ([names, does]) => {
    const keys = names.split(" ").map((name) => `<kbd>${name}</kbd>`).join("");
    return `<div><dt>${keys}</dt><dd>${does}</dd></div>`;
  };
  const section = ([name, lines]) =>
    `<section>${name && `<h3>${name}</h3>`}<dl class="keys">${lines.map(line).join("")}</dl></section>`;
  sections.at(-1)[1].push(...EVERYWHERE);
  const dialog = element(
    `<dialog aria-labelledby="keys-name"${sections.length > 1 ? ' class="wide"' : ""}><h2 id="keys-name">Keys</h2>
    <div class="key-sections">${sections.map(section).join("")}</div>
    <form method="dialog" class="dialog-buttons"><button class="primary">Close</button></form></dialog>`,
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  dialog.scrollTop = 0; // the button that has the focus is at the end
}

export function startKeys() {
  const button = element('<button type="button" id="keys" aria-keyshortcuts="?"><kbd>?</kbd> Keys</button>');
  button.addEventListener("click", showKeys);
  document.querySelector(".bar").append(button);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "?" || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target.matches("input:not([type=radio], [type=range]), textarea, select")) return;
    if (document.querySelector("dialog[open]")) return;
    event.preventDefault();
    showKeys();
  });
}
