// Draws the OpenAPI document as a page, and sends requests from it. No library: what it needs is little.
"use strict";

const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

let specification;

const resolve = (schema) =>
  schema && schema.$ref ? specification.components.schemas[schema.$ref.split("/").pop()] : schema || {};

// A value that fits a schema: its own example where it has one.
function sample(schema, depth = 0) {
  const known = resolve(schema);
  if (known.examples && known.examples.length) return known.examples[0];
  if (known.default !== undefined) return known.default;
  const choice = (known.anyOf || known.oneOf || []).find((one) => one.type !== "null");
  if (choice) return sample(choice, depth);
  if (known.const !== undefined) return known.const;
  if (known.enum) return known.enum[0];
  if (known.type === "array") return depth > 3 ? [] : [sample(known.items, depth + 1)];
  if (known.type === "object" || known.properties) {
    const fields = Object.entries(known.properties || {});
    return depth > 3 ? {} : Object.fromEntries(fields.map(([name, one]) => [name, sample(one, depth + 1)]));
  }
  return { string: "text", integer: 1, number: 1.0, boolean: true }[known.type] ?? null;
}

// What a request needs and no more: fields that are required or carry an example of their own.
function draft(schema) {
  const known = resolve(schema);
  if (known.examples && known.examples.length) return known.examples[0];
  const needed = new Set(known.required || []);
  const fields = Object.entries(known.properties || {});
  return Object.fromEntries(
    fields.filter(([name, one]) => needed.has(name) || one.examples).map(([name, one]) => [name, sample(one)]));
}

function kind(schema) {
  const known = resolve(schema);
  if (known.anyOf) return known.anyOf.map(kind).filter((word) => word !== "null").join(" or ");
  return known.enum ? known.enum.join(", ") : known.type || "any";
}

function parameterTable(parameters, inputs) {
  const rows = parameters.map((parameter) => {
    const input = make("input", { placeholder: parameter.required ? "required" : "" });
    input.setAttribute("aria-label", parameter.name);
    inputs.push([parameter, input]);
    const about = parameter.description || (parameter.schema && parameter.schema.description) || "";
    return make("tr", {}, make("td", {}, make("code", { textContent: parameter.name })),
      make("td", { textContent: kind(parameter.schema) }), make("td", { textContent: about }), make("td", {}, input));
  });
  return make("table", {}, ...rows);
}

async function send(method, path, inputs, body, media, output) {
  let address = path;
  const query = new URLSearchParams();
  for (const [parameter, input] of inputs) {
    if (parameter.in === "path") address = address.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
    else if (parameter.in === "query" && input.value) query.append(parameter.name, input.value);
  }
  const headers = {};
  const key = document.getElementById("key").value;
  if (key) headers["X-API-Key"] = key;
  if (body) headers["Content-Type"] = media;
  output.textContent = "…";
  try {
    const answer = await fetch(address + (query.size ? `?${query}` : ""),
      { method: method.toUpperCase(), headers, body: body ? body.value : undefined });
    let text = await answer.text();
    try { text = JSON.stringify(JSON.parse(text), null, 2); } catch { /* not JSON: shown as it came */ }
    output.textContent = `${answer.status} ${answer.statusText}\n${text}`;
  } catch (problem) {
    output.textContent = `No answer: ${problem.message}`;
  }
}

function responses(operation) {
  return Object.entries(operation.responses).flatMap(([status, response]) => {
    const content = response.content && (response.content["application/json"] || Object.values(response.content)[0]);
    const schema = content && content.schema;
    const shown = [make("h3", { textContent: `${status} ${response.description}` })];
    if (schema && /^2/.test(status)) shown.push(make("pre", { textContent: JSON.stringify(sample(schema), null, 2) }));
    return shown;
  });
}

function draw(method, path, operation) {
  const inside = make("div");
  const inputs = [];
  if (operation.description) inside.append(make("p", { textContent: operation.description }));
  if (operation.parameters) inside.append(parameterTable(operation.parameters, inputs));
  let body = null, media = "application/json";
  if (operation.requestBody) {
    const [type, content] = Object.entries(operation.requestBody.content)[0];
    media = type;
    body = make("textarea", { spellcheck: false, value: type === "application/json" ? JSON.stringify(draft(content.schema), null, 2) : "" });
    body.setAttribute("aria-label", "body");
    inside.append(make("h3", { textContent: `Body (${type})` }), body);
  }
  const output = make("pre", { hidden: true });
  const button = make("button", { type: "button", textContent: "Send" });
  button.onclick = () => { output.hidden = false; send(method, path, inputs, body, media, output); };
  inside.append(make("p", {}, button), output, ...responses(operation));
  return make("details", { id: operation.operationId }, make("summary", {},
    make("span", { className: `method ${method}`, textContent: method.toUpperCase() }),
    make("code", { textContent: path }), make("span", { textContent: operation.summary })), inside);
}

function show(wanted) {
  const groups = new Map();
  for (const [path, operations] of Object.entries(specification.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      const text = `${method} ${path} ${operation.summary} ${operation.description || ""}`.toLowerCase();
      if (!wanted.every((word) => text.includes(word))) continue;
      const tag = (operation.tags || ["other"])[0];
      if (!groups.has(tag)) groups.set(tag, []);
      groups.get(tag).push(draw(method, path, operation));
    }
  }
  const parts = [...groups].map(([tag, drawn]) => make("section", {}, make("h2", { textContent: tag }), ...drawn));
  document.getElementById("operations").replaceChildren(...(parts.length ? parts : [make("p", { textContent: "Nothing fits." })]));
}

async function start() {
  specification = await (await fetch("/openapi.json")).json();
  document.getElementById("summary").textContent = `${specification.info.summary} Version ${specification.info.version}.`;
  const find = document.getElementById("find");
  find.oninput = () => show(find.value.toLowerCase().split(/\s+/).filter(Boolean));
  document.getElementById("tools").onsubmit = (event) => event.preventDefault();
  show([]);
}

start().catch((problem) => { document.getElementById("operations").textContent = `The API does not answer: ${problem.message}`; });
