import * as z from 'zod'
import { FileSettingsSchema } from './settings.ts'
import { SETTINGS_WORDS } from './settings-words.ts'

type Schema = Readonly<Record<string, unknown>>

/** JSON Schema (draft 2020-12) of sluice.yaml, for editors: made of the schema that reads the file, with words to each key. */
export function settingsSchema(): Schema {
  const { $schema, ...schema } = z.toJSONSchema(FileSettingsSchema, { io: 'input', unrepresentable: 'any' })
  return { $schema, title: 'Sluice settings (sluice.yaml)', ...described(schema, '') }
}

/** The same schema, each property with what it means. */
function described(schema: Schema, path: string): Schema {
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, isSchema(value) ? inner(key, value, path) : value]),
  )
}

function inner(key: string, value: Schema, path: string): unknown {
  if (Array.isArray(value)) return ALTERNATIVES.has(key) ? value.map((one: Schema) => described(one, path)) : value
  if (key === 'properties')
    return Object.fromEntries(Object.entries(value).map(([name, one]) => property(name, one, path)))
  if (key === 'additionalProperties') return described(value, `${path}.*`)
  return key === 'items' ? described(value, `${path}[]`) : value
}

function property(name: string, schema: unknown, path: string): readonly [string, unknown] {
  const own = path === '' ? name : `${path}.${name}`
  const words = SETTINGS_WORDS[own]
  const told = described(schema as Schema, own)
  return [name, words === undefined ? told : { description: words, ...told }]
}

const ALTERNATIVES: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf'])

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null
}
