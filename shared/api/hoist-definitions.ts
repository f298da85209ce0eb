import { canonicalJson, type Json } from '../canonical.ts'

type Schema = Readonly<Record<string, unknown>>

/** Where the definitions of an OpenAPI document stand: `#/components/schemas/NAME`. */
export interface Definitions {
  /** The schema with its `$defs` moved here, and its references after them. Equal definitions are one. */
  hoist(schema: Schema): Schema
  readonly schemas: Readonly<Record<string, Schema>>
}

/**
 * JSON Schema of one part names what it repeats by `#/$defs/..`, from its own root; in an OpenAPI document that is the
 * root of the whole, where no such thing is.
 */
export function openDefinitions(): Definitions {
  const schemas: Record<string, Schema> = {}
  const names = new Map<string, string>()
  const nameOf = (definition: unknown): string => {
    const text = canonicalJson(definition as Json)
    const name = names.get(text) ?? (text === '{}' ? 'AnyJson' : `Shared${names.size + 1}`)
    names.set(text, name)
    return name
  }
  const hoist = ({ $defs, ...schema }: Schema): Schema => {
    if ($defs === undefined) return schema
    const definitions = Object.entries($defs as Readonly<Record<string, Schema>>)
    const moved = new Map(definitions.map(([key, definition]) => [`#/$defs/${key}`, nameOf(definition)]))
    for (const [key, definition] of definitions) {
      schemas[moved.get(`#/$defs/${key}`) ?? key] = redirected(definition, moved) as Schema
    }
    return redirected(schema, moved) as Schema
  }
  return { hoist, schemas }
}

function redirected(value: unknown, moved: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((one) => redirected(one, moved))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const name = key === '$ref' ? moved.get(String(inner)) : undefined
      return [key, name === undefined ? redirected(inner, moved) : `#/components/schemas/${name}`]
    }),
  )
}
