// validate.js SCHEMA DOCUMENT...: do JSON documents satisfy a JSON Schema?
//
// Knows the keywords that insula.schema.json uses and refuses any other, so that a
// keyword cannot be silently ignored.  With --self-test it also checks that documents
// with one thing wrong are rejected.
"use strict";
const fs = require("fs");

const quiet = new Set(["$schema", "title", "description", "$defs"]);

function typeOf(v) {
  if (v === null) return "null";
  if (Array.isArray(v)) return "array";
  return typeof v;
}

const rules = {
  type(want, v) {
    if (want === "integer") return Number.isInteger(v);
    return typeOf(v) === want;
  },
  enum: (want, v) => want.includes(v),
  const: (want, v) => v === want,
  minimum: (want, v) => typeof v !== "number" || v >= want,
  pattern: (want, v) => typeof v !== "string" || new RegExp(want).test(v),
  required: (want, v) => typeOf(v) !== "object" || want.every(k => Object.hasOwn(v, k)),
};

function check(root, schema, v, at, faults) {
  for (const [word, want] of Object.entries(schema)) {
    if (quiet.has(word)) continue;
    if (word === "$ref") {
      const target = want.replace(/^#\//, "").split("/").reduce((s, k) => s[k], root);
      check(root, target, v, at, faults);
    } else if (word === "properties") {
      if (typeOf(v) === "object")
        for (const [k, s] of Object.entries(want)) if (Object.hasOwn(v, k)) check(root, s, v[k], at + "/" + k, faults);
    } else if (word === "additionalProperties") {
      if (typeOf(v) !== "object") continue;
      for (const k of Object.keys(v)) {
        if (schema.properties && Object.hasOwn(schema.properties, k)) continue;
        if (want === false) faults.push(at + ": unexpected member " + k);
        else check(root, want, v[k], at + "/" + k, faults);
      }
    } else if (word === "items") {
      if (Array.isArray(v)) v.forEach((x, i) => check(root, want, x, at + "/" + i, faults));
    } else if (word === "anyOf") {
      const tries = want.map(s => { const f = []; check(root, s, v, at, f); return f; });
      if (!tries.some(f => !f.length)) faults.push(...tries.sort((a, b) => a.length - b.length)[0]);
    } else if (rules[word]) {
      if (!rules[word](want, v)) faults.push(at + ": " + word + " " + JSON.stringify(want) + " does not hold of " + JSON.stringify(v).slice(0, 80));
    } else {
      throw new Error("keyword " + word + " is not known to this validator");
    }
  }
}

function validate(schema, doc) {
  const faults = [];
  check(schema, schema, doc, "", faults);
  return faults;
}

// Every way to break a document in one place: drop a member, add one, change a type.
function* broken(doc, at = []) {
  const v = at.reduce((d, k) => d[k], doc);
  const change = f => { const d = structuredClone(doc); f(at.reduce((x, k) => x[k], d)); return d; };
  if (typeOf(v) !== "object") return;
  yield change(x => { x.surprise = {}; });
  for (const k of Object.keys(v)) {
    yield change(x => { x[k] = {is: "wrong"}; });
    const first = Array.isArray(v[k]) && v[k].length ? [k, 0] : [k];
    if (typeOf(first.reduce((d, j) => d[j], v)) === "object") yield* broken(doc, [...at, ...first]);
  }
}

const args = process.argv.slice(2);
const selfTest = args[0] === "--self-test" && args.shift();
const schema = JSON.parse(fs.readFileSync(args[0], "utf8"));
let bad = 0;
for (const file of args.slice(1)) {
  const doc = JSON.parse(fs.readFileSync(file, "utf8"));
  const faults = validate(schema, doc);
  for (const f of faults.slice(0, 5)) console.log(file + f);
  bad += faults.length;
  if (!selfTest) continue;
  let n = 0;
  for (const wrong of broken(doc)) {
    n++;
    if (!validate(schema, wrong).length) { console.log("accepted, though broken: " + JSON.stringify(wrong).slice(0, 200)); bad++; }
  }
  console.log(n + " broken documents tried");
}
process.exit(bad ? 1 : 0);
