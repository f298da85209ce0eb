import type { Json } from '../../../shared/canonical.ts'

const MAX_VALUES = 2_000

/**
 * The value the inputs give a name, if `fits` takes it: the input of that name, else the first member of that name in
 * the json inputs (breadth first, 2,000 values), else what a text input writes after it: `score: 7`, `is ready = true`.
 */
export function namedValue(
  inputs: Readonly<Record<string, Json>>,
  name: string,
  fits: (value: Json) => boolean,
): Json | undefined {
  const level: Json[] = [inputs]
  for (const value of level) {
    const found = memberOf(value, name)
    if (found !== undefined && fits(found)) return found
    if (level.length < MAX_VALUES) level.push(...membersOf(value))
  }
  const texts = Object.values(inputs).filter((value) => typeof value === 'string')
  return texts.map((text) => writtenValue(text, name)).find((value) => value !== undefined && fits(value))
}

function memberOf(value: Json, name: string): Json | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return Object.hasOwn(value, name) ? (value as Readonly<Record<string, Json>>)[name] : undefined
}

function membersOf(value: Json): readonly Json[] {
  return typeof value === 'object' && value !== null ? Object.values(value).slice(0, MAX_VALUES) : []
}

function writtenValue(text: string, name: string): Json | undefined {
  const words = name.split(/[_-]+/).join('[ _-]')
  const written = new RegExp(
    `(?:^|[^\\p{L}\\p{N}])${words}\\s*[:=]\\s*(true|false|-?\\d+(?:\\.\\d+)?)(?![\\p{L}\\p{N}])`,
    'iu',
  )
  const found = written.exec(text)?.[1]
  return found === undefined ? undefined : (JSON.parse(found.toLowerCase()) as Json)
}
