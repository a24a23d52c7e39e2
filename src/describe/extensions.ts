/** Any object of an OpenAPI document. */
export type Node = Record<string, unknown>;

const MARKS = new Set(['x-extension', 'x-required-scopes', 'x-required-roles']);
/** Containers that say nothing once they are empty. An empty `application/json` still says that the body is JSON. */
const POINTLESS_WHEN_EMPTY = new Set(['headers', 'parameters', 'examples']);

/**
 * The document without anything that is marked `x-extension: true`, and without every reference to a component that
 * is so marked. What remains is the specified service and nothing else.
 */
export function stripExtensions(document: Node): Node {
  const removed = new Set(
    componentsOf(document).flatMap(({ pointer, node }) => (isMarked(node) ? [pointer] : [])),
  );
  const goes = (value: unknown) =>
    isNode(value) && (isMarked(value) || (typeof value.$ref === 'string' && removed.has(value.$ref)));

  function strip(value: unknown): unknown {
    if (Array.isArray(value)) return value.filter((entry) => !goes(entry)).map(strip);
    if (!isNode(value)) return value;
    const kept: Node = {};
    for (const [key, child] of Object.entries(value)) {
      if (MARKS.has(key) || goes(child)) continue;
      const stripped = strip(child);
      if (!(POINTLESS_WHEN_EMPTY.has(key) && isEmpty(stripped))) kept[key] = stripped;
    }
    return withoutMissingRequired(kept);
  }

  const stripped = strip(document);
  return isNode(stripped) ? stripped : {};
}

/**
 * Marks each component that only extensions refer to, so that a reader of the document need not work that out.
 * Changes the document in place.
 */
export function markExtensionComponents(document: Node): void {
  const components = componentsOf(document);
  const byPointer = new Map(components.map(({ pointer, node }) => [pointer, node]));
  const specified = new Set<string>();
  const visit = (value: unknown) => {
    for (const pointer of referencesIn(value)) {
      if (specified.has(pointer)) continue;
      specified.add(pointer);
      visit(byPointer.get(pointer));
    }
  };
  visit(stripExtensions(document).paths);
  for (const { pointer, node } of components) {
    if (!specified.has(pointer)) node['x-extension'] = true;
  }
}

/** Security schemes are left out: they are referred to by name, and the specification names them all. */
function componentsOf(document: Node): { pointer: string; node: Node }[] {
  const { securitySchemes: _named, ...sections } = isNode(document.components) ? document.components : {};
  return Object.entries(sections).flatMap(([section, entries]) =>
    Object.entries(isNode(entries) ? entries : {}).flatMap(([name, node]) =>
      isNode(node) ? [{ pointer: `#/components/${section}/${name}`, node }] : [],
    ),
  );
}

function referencesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (!isNode(value)) return [];
  return Object.entries(value).flatMap(([key, child]) =>
    key === '$ref' && typeof child === 'string' ? [child] : referencesIn(child),
  );
}

function withoutMissingRequired(node: Node): Node {
  const { required, properties } = node;
  if (!Array.isArray(required) || !isNode(properties)) return node;
  return { ...node, required: required.filter((name) => Object.hasOwn(properties, name)) };
}

function isMarked(node: Node): boolean {
  return node['x-extension'] === true;
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
