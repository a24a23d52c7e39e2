/** Any object of an OpenAPI or AsyncAPI document. */
export type Node = Record<string, unknown>;

/** The document without its marked nodes: the specified service. Deletes every object that is marked, and changes nothing else. */
export function stripExtensions(document: Node): Node {
  const strip = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.filter(isKept).map(strip);
    if (!isNode(value)) return value;
    const kept = Object.entries(value).filter(([, child]) => isKept(child));
    return Object.fromEntries(kept.map(([key, child]) => [key, strip(child)]));
  };
  return strip(document) as Node;
}

/**
 * Marks what a deletion of marked nodes would leave behind: components that only extensions refer to, and references to marked
 * components. Changes the document in place.
 *
 * Only references to schemas may carry a mark in OpenAPI. A reference to anything else becomes a copy of the marked component.
 */
export function markExtensions(document: Node): void {
  const components = componentsOf(document);
  const specified = new Set<Node>();
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    if (!isNode(value) || isMarked(value)) return;
    const { $ref } = value;
    const component = components.get($ref);
    if (component && isMarked(component)) {
      value['x-extension'] = true;
      if (String($ref).startsWith('#/components/schemas/')) return;
      delete value.$ref;
      Object.assign(value, component);
    } else if (component && !specified.has(component)) {
      specified.add(component);
      visit(component);
    } else Object.values(value).forEach(visit);
  };
  visit(document.paths);
  for (const component of components.values()) if (!specified.has(component)) component['x-extension'] = true;
}

/** By their references. Security schemes are left out: they are referred to by name, and the specification names them all. */
function componentsOf({ components }: Node): Map<unknown, Node> {
  const { securitySchemes: _named, ...sections } = components as Record<string, Record<string, Node>>;
  return new Map(
    Object.entries(sections).flatMap(([section, entries]) =>
      Object.entries(entries).map(([name, node]) => [`#/components/${section}/${name}`, node] as const),
    ),
  );
}

const isMarked = (node: Node): boolean => node['x-extension'] === true;
const isKept = (value: unknown): boolean => !(isNode(value) && isMarked(value));

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
