// Passages of a plan's text: the one that is selected, and where quotes stand. A quote is found by its letters, so it
// keeps its place while the text around it changes. Passages are painted over the text; nothing is put into it.

import { planOf } from "./plans.js";

const TEXTS = "[data-steer] .text > .prose";
/** Words over the text that are not the author's. */
const NOT_ITS_OWN = ".draft, .unseen, .toolbar, .suggestion, .suggestion-text, .comment, .ghost";
const LONGEST = 1000;

const isSpace = (sign) => /\s/.test(sign);
const letters = (text) => text.replace(/\s+/g, "");

/** All letters of a text, and the node and offset of each. */
function lettersOf(text) {
  const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
  let all = "";
  const places = [];
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.parentElement.closest(NOT_ITS_OWN)) continue;
    for (let at = 0; at < node.data.length; at++) {
      if (isSpace(node.data[at])) continue;
      all += node.data[at];
      places.push([node, at]);
    }
  }
  return { all, places };
}

/** Where quotes stand in the text of a plan: a range for each, or null if the text does not contain it. */
export function rangesOf(plan, quotes) {
  const text = quotes.length ? plan.querySelector(".text > .prose") : null;
  if (!text) return quotes.map(() => null);
  const { all, places } = lettersOf(text);
  return quotes.map((quote) => {
    const wanted = letters(quote), at = wanted ? all.indexOf(wanted) : -1;
    if (at < 0) return null;
    const range = document.createRange(), [end, offset] = places[at + wanted.length - 1];
    range.setStart(...places[at]);
    range.setEnd(end, offset + 1);
    return range;
  });
}

/** The block of a text that a range ends in: an item of a list, or else a paragraph, a table, … */
export function blockOf(range) {
  const node = range.endContainer.parentElement, item = node.closest("li");
  if (item) return item;
  let block = node;
  while (!block.parentElement.matches(".prose, .text")) block = block.parentElement;
  return block;
}

/** What is selected in the text of a plan that people can steer; null if nothing is. */
export function selected() {
  const selection = getSelection();
  if (!selection.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0), around = range.commonAncestorContainer;
  const text = (around.nodeType === Node.ELEMENT_NODE ? around : around.parentElement).closest(TEXTS);
  if (!text) return null;
  const copy = range.cloneContents();
  for (const each of copy.querySelectorAll(NOT_ITS_OWN)) each.remove();
  const quote = copy.textContent.replace(/[^\S\n]+/g, " ").replace(/\s*\n\s*/g, "\n").trim().slice(0, LONGEST);
  return quote ? { plan: planOf(text), quote, range } : null;
}

/** Paint passages in the style of that name in the style sheet. */
export function paint(name, ranges) {
  if (window.CSS?.highlights) CSS.highlights.set(name, new Highlight(...ranges.filter(Boolean)));
}
