"use strict";
/* What every page uses. */

const NS = "http://www.w3.org/2000/svg";
const $ = id => document.getElementById(id);

function el(tag, attrs, ...kids) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attrs || {})) {
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else if (v !== null && v !== undefined && v !== false) e.setAttribute(k, v === true ? "" : v);
  }
  e.append(...kids.filter(k => k !== null && k !== undefined && k !== ""));
  return e;
}

function svg(tag, attrs, ...kids) {
  const e = document.createElementNS(NS, tag);
  for (const [k, v] of Object.entries(attrs || {})) if (v !== null && v !== undefined) e.setAttribute(k, v);
  e.append(...kids);
  return e;
}

function seconds(s) {
  if (s < 1e-4 && s > 0) return (s * 1e6).toFixed(0) + " µs";
  if (s < 0.01) return (s * 1e3).toFixed(1) + " ms";
  if (s < 1) return (s * 1e3).toFixed(0) + " ms";
  if (s < 100) return s.toFixed(s < 10 ? 2 : 1) + " s";
  return Math.floor(s / 60) + " min " + Math.round(s % 60) + " s";
}

function bytes(n) {
  if (n < 1e6) return (n / 1e3).toFixed(0) + " kB";
  if (n < 1e9) return (n / 1e6).toFixed(n < 1e7 ? 1 : 0) + " MB";
  return (n / 1e9).toFixed(2) + " GB";
}

const count = n => n.toLocaleString("en");

/* ---- the tip that follows the pointer ---- */

function showTip(ev, content) {
  const tip = $("tip");
  tip.replaceChildren(...content.filter(x => x !== ""));
  tip.hidden = false;
  const r = tip.getBoundingClientRect();
  const x = Math.min(ev.clientX + 14, innerWidth - r.width - 8);
  const y = ev.clientY + 18 + r.height > innerHeight ? ev.clientY - r.height - 12 : ev.clientY + 18;
  tip.style.left = Math.max(4, x) + "px";
  tip.style.top = Math.max(4, y) + "px";
}

function hover(node, content) {
  node.addEventListener("pointermove", ev => { if (ev.pointerType !== "touch") showTip(ev, content()); });
  node.addEventListener("pointerleave", hideTip);
}

function hideTip() { $("tip").hidden = true; }
