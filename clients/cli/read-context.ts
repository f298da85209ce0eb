import * as z from 'zod'
import type { Json } from '../../shared/canonical.ts'
import { changedNumbers, changedWords } from '../../shared/exact-numbers.ts'
import { readFile } from './read-file.ts'
import { usage } from './refused.ts'

/** Free values of --context-json: one JSON object. */
export function readContext(path: string | undefined): Readonly<Record<string, Json>> {
  if (path === undefined) return {}
  const parsed = ContextSchema.safeParse(readJson(readFile(path, 'context file'), path))
  if (parsed.success) return parsed.data
  throw usage(`Cannot use context file "${path}": it must hold one JSON object.`)
}

/** JSON.parse makes JSON values only. */
const ContextSchema = z.record(
  z.string(),
  z.custom<Json>(() => true),
)

function readJson(text: string, path: string): unknown {
  const [changed] = changedNumbers(text)
  if (changed !== undefined) throw usage(`Cannot use context file "${path}": ${changedWords(changed)}.`)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw usage(`Cannot read context file "${path}" as JSON: ${error instanceof Error ? error.message : error}.`)
  }
}
