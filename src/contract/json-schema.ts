import { z } from 'zod';

/**
 * The declared schemas as JSON Schema, in a form that both draft 7 (the serialiser) and draft 2020-12 (OpenAPI 3.1)
 * read alike. Zod's own output is reshaped where the two would disagree or where it says less than the declaration:
 * nullable values become a list of types, since the serialiser validates every branch of an `anyOf` before it writes
 * one.
 */
export type JsonSchema = Record<string, unknown>;

type Io = 'input' | 'output';

interface Style {
  /** Marks such as `x-extension` are for people; a compiler in strict mode refuses keywords it does not know. */
  marks: boolean;
  /** A compiler is told that there are no fields but the declared ones. Readers are not: answers may gain fields. */
  closed: boolean;
  resolve(name: string, beside: JsonSchema): JsonSchema;
}

/** One self-contained schema without references: for compilers such as the HTTP serialiser. */
export function toJsonSchema(schema: z.ZodType, { io }: { io: Io }): JsonSchema {
  const { root, definitions } = convert(schema, io);
  const inlined: Style = {
    marks: false,
    closed: true,
    resolve: (name, beside) => ({ ...reshape(definitionOf(definitions, name), inlined), ...beside }),
  };
  return reshape(root, inlined);
}

/**
 * The same with named schemas (`.meta({ id })`) left as references, for OpenAPI. Each definition met is added to
 * `components`; a name that stands for two different shapes is refused, since a reader could not tell them apart.
 */
export function toReferencedSchema(
  schema: z.ZodType,
  { io, components }: { io: Io; components: Map<string, JsonSchema> },
): JsonSchema {
  const { root, definitions } = convert(schema, io);
  const referenced: Style = {
    marks: true,
    closed: false,
    resolve(name, beside) {
      const shape = reshape(definitionOf(definitions, name), referenced);
      const known = components.get(name);
      if (known && JSON.stringify(known) !== JSON.stringify(shape)) {
        throw new Error(`Two different schemas share the id "${name}".`);
      }
      components.set(name, shape);
      return { $ref: `#/components/schemas/${name}`, ...beside };
    },
  };
  return reshape(root, referenced);
}

/** For the `.meta` of what is taken as it comes and judged later: the named shapes that it may have, told to readers alone. */
export function oneOfShapes(shapes: z.ZodType[]): JsonSchema {
  const { root, definitions } = convert(z.union(shapes), 'input');
  return { oneOf: root.anyOf, $defs: definitions };
}

function convert(schema: z.ZodType, io: Io): { root: JsonSchema; definitions: JsonSchema } {
  const {
    $schema: _dialect,
    $defs,
    ...root
  } = z.toJSONSchema(schema, {
    io,
    reused: 'inline',
    override({ zodSchema: { _zod }, jsonSchema }) {
      // Zod closes every object on the output side; only those declared strict are closed on both.
      if (_zod.def.type === 'object' && !_zod.def.catchall) delete jsonSchema.additionalProperties;
    },
  });
  const definitions: JsonSchema = {};
  for (const [name, { $defs: shapes, ...definition }] of Object.entries<JsonSchema>({ ...$defs }))
    Object.assign(definitions, { [name]: definition }, shapes);
  return { root, definitions };
}

function definitionOf(definitions: JsonSchema, name: string): JsonSchema {
  const definition = definitions[name];
  if (!isSchema(definition))
    throw new Error(`The schema refers to itself or to "${name}", which is unknown.`);
  return definition;
}

const SUBSCHEMAS = new Set([
  'items',
  'prefixItems',
  'additionalProperties',
  'anyOf',
  'oneOf',
  'allOf',
  'not',
]);

/** Walks by keyword, never by key: a property may well be called `type` or `id`. */
function reshape(schema: JsonSchema, style: Style): JsonSchema {
  const { $ref, type, ...keywords } = schema;
  const shaped: JsonSchema = type === undefined ? {} : { type };
  for (const [keyword, value] of Object.entries(keywords)) {
    if (keyword === 'properties' && isSchema(value)) {
      shaped[keyword] = Object.fromEntries(
        Object.entries(value).map(([name, property]) => [name, reshapeValue(property, style)]),
      );
    } else if (SUBSCHEMAS.has(keyword)) {
      shaped[keyword] = reshapeValue(value, style);
    } else if (!isSafeIntegerBound(value) && (style.marks || !keyword.startsWith('x-'))) {
      shaped[keyword] = value;
    }
  }
  if (style.closed && type === 'object' && shaped.properties) shaped.additionalProperties ??= false;
  if (typeof $ref === 'string') return style.resolve($ref.replace('#/$defs/', ''), shaped);
  return evenTuple(unionAsTypes(style.closed ? shaped : withoutBareNull(shaped), style));
}

function reshapeValue(value: unknown, style: Style): unknown {
  if (Array.isArray(value)) return value.map((entry) => reshapeValue(entry, style));
  return isSchema(value) ? reshape(value, style) : value;
}

/** Zod bounds every integer by what a double can hold; that says nothing about the field. */
function isSafeIntegerBound(value: unknown): boolean {
  return value === Number.MIN_SAFE_INTEGER || value === Number.MAX_SAFE_INTEGER;
}

/**
 * `anyOf` becomes a list of types wherever that means the same: one shape or null, or several bare types. The latter only for compilers: makers of
 * clients read such a list as "or null" and nothing else.
 */
function unionAsTypes(schema: JsonSchema, { closed: isForCompilers }: Style): JsonSchema {
  const { anyOf, ...outer } = schema;
  if (!Array.isArray(anyOf) || !anyOf.every((branch) => isSchema(branch) && branch.type !== undefined)) {
    return schema;
  }
  const shapes = anyOf.filter((branch) => !isBareType(branch));
  if (shapes.length > 1) return schema;
  // A keyword such as `enum` or `minimum` that one branch carries must not come to bind the others.
  if (shapes.length === 1 && !(anyOf.length === 2 && anyOf.some((branch) => branch.type === 'null')))
    return schema;
  const shape = shapes[0] ?? {};
  const type = anyOf.flatMap((branch) => branch.type);
  if (!isForCompilers && type.filter((one) => one !== 'null').length > 1) return schema;
  const merged: JsonSchema = Object.assign({ type }, shape, outer, { type });
  // `type` only widens what may be there; an enumeration or a constant would still refuse null.
  if (Array.isArray(shape.enum)) merged.enum = [...shape.enum, null];
  if ('const' in shape) {
    delete merged.const;
    merged.enum = [shape.const, null];
  }
  return merged;
}

/** Client generators understand a nullable reference as `oneOf: [reference, null]`, and every other nullable schema as a type array with null. */
function withoutBareNull(schema: JsonSchema): JsonSchema {
  const { anyOf, ...outer } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2 || anyOf[1].type !== 'null') return schema;
  const [shape] = anyOf;
  if (shape.$ref) return { ...outer, oneOf: anyOf };
  if (!shape.anyOf) return schema;
  const [first, ...others] = shape.anyOf;
  return { ...outer, anyOf: [{ ...first, type: [first.type, 'null'] }, ...others] };
}

function isBareType(schema: JsonSchema): boolean {
  return Object.keys(schema).length === 1;
}

/** Draft 7 and 2020-12 spell tuples differently; one whose places are all alike can be said the same way in both. */
function evenTuple(schema: JsonSchema): JsonSchema {
  const { prefixItems, ...rest } = schema;
  if (!Array.isArray(prefixItems)) return schema;
  const [first, ...others] = prefixItems.map((item) => JSON.stringify(item));
  if (first === undefined || others.some((other) => other !== first)) {
    throw new Error('Only tuples whose places are all alike can be described to every reader.');
  }
  return { ...rest, items: prefixItems[0], minItems: prefixItems.length, maxItems: prefixItems.length };
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
