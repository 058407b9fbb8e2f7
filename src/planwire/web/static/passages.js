// Passages of a plan's text: the one that is selected, and where others stand. They are compared as people read them, and
// keep their places while the text around them changes. Passages are painted over the text; nothing is put into it.

import { planOf } from "./plans.js";

const TEXTS = "[data-steer] .text > .prose";
/** Words over the text that are not the author's. */
const NOT_ITS_OWN = ".draft, .unseen, .toolbar, .suggestion, .suggestion-text, .comment, .ghost, [data-my-removed]";
const LONGEST = 1000;

// ---------------------------------------------------------------- the rule of model/passages.py, for a page

const AROUND = 64, ENOUGH = 16;
const UNSEEN = /[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffd]/g;
const plain = (text) => text.replace(UNSEEN, "").replace(/\s+/g, " ");

function agreed(one, other) {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) if (one[at] !== other[at]) return at;
  return length;
}
const reversed = (text) => text.split("").reverse().join("");

function occurrences(text, words) {
  const places = [];
  for (let at = words ? text.indexOf(words) : -1; at >= 0; at = text.indexOf(words, at + 1)) places.push(at);
  return places;
}

/** Where a passage stands in a text as people read it: from, and up to; null if its place is lost. */
export function anchored(text, passage) {
  const words = plain(passage.text).trim(), before = plain(passage.before ?? ""), after = plain(passage.after ?? "");
  let best = null;
  occurrences(text, words).forEach((at, index) => {
    const end = at + words.length;
    let left = agreed(reversed(text.slice(Math.max(at - before.length, 0), at)), reversed(before));
    let right = agreed(text.slice(end, end + after.length), after);
    const equal = left + right, isSame = words === text || (equal > 0 && equal === before.length + after.length);
    if (left === before.length && (left === AROUND || left === at)) left++;
    if (right === after.length && (right === AROUND || end + right === text.length)) right++;
    const isWhole = (left > 1 && left > before.length) || (right > 1 && right > after.length);
    if (!isWhole && !isSame && Math.max(left, right) < ENOUGH) return;
    const rank = [Math.max(left, right), left + right, -Math.abs(index + 1 - (passage.occurrence ?? 1))];
    const by = best ? rank.map((each, nth) => each - best.rank[nth]).find(Boolean) ?? 0 : 1;
    if (by > 0) best = { rank, at, end };
  });
  return best && [best.at, best.end];
}

// ---------------------------------------------------------------- the text on the page

/** The text of a plan as people read it, with the node and offset of each of its characters. */
function readingOf(text) {
  const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
  let all = "";
  const places = [];
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.parentElement.closest(NOT_ITS_OWN)) continue;
    for (let at = 0; at < node.data.length; at++) {
      const sign = plain(node.data[at]);
      if (!sign || (sign === " " && (!all || all.endsWith(" ")))) continue;
      all += sign;
      places.push([node, at]);
    }
  }
  return { all, places };
}

/** Where passages stand in the text of a plan: a range for each, or null if its place is lost. */
export function rangesOf(plan, passages) {
  const text = passages.some(Boolean) ? plan.querySelector(".text > .prose") : null;
  if (!text) return passages.map(() => null);
  const { all, places } = readingOf(text);
  return passages.map((passage) => {
    const place = passage && anchored(all, passage);
    if (!place) return null;
    const range = document.createRange(), [end, offset] = places[place[1] - 1];
    range.setStart(...places[place[0]]);
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
  const { all, places } = readingOf(text);
  const inside = ([node, at]) => range.comparePoint(node, at) === 0 && range.comparePoint(node, at + 1) === 0;
  let start = places.findIndex(inside), end = start < 0 ? start : places.findLastIndex(inside) + 1;
  while (start < end && all[start] === " ") start++;
  while (start < end && all[end - 1] === " ") end--;
  if (start >= end) return null;
  end = Math.min(end, start + LONGEST);
  const cut = (from, to) => all.slice(Math.max(from, 0), to).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, ""); // no half signs
  const words = cut(start, end), occurrence = occurrences(all.slice(0, end), words).indexOf(start) + 1;
  const passage = { text: words, before: cut(start - AROUND, start), after: cut(end, end + AROUND), occurrence };
  return { plan: planOf(text), passage, range };
}

/** Paint passages in the style of that name in the style sheet. */
export function paint(name, ranges) {
  if (window.CSS?.highlights) CSS.highlights.set(name, new Highlight(...ranges.filter(Boolean)));
}
