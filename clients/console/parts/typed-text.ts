import { changedNumber, changedNumbers, changedWords } from '../../../shared/exact-numbers.ts'

/** What somebody typed for a port: a value, nothing (left empty), or why it is none of this type. */
export type Typed = { readonly value: unknown } | { readonly problem: string } | Record<string, never>

/** Reads a field by the type its port declares; the server checks again. Types: shared/dag/dag.ts, PORT_TYPES. */
export function readTyped(type: string, text: string): Typed {
  if (type === 'string') return text === '' ? {} : { value: text }
  const trimmed = text.trim()
  if (trimmed === '') return {}
  if (type === 'number') return readNumber(trimmed)
  if (type === 'boolean') return trimmed === 'true' || trimmed === 'false' ? { value: trimmed === 'true' } : NO_BOOLEAN
  if (type === 'json') return readJson(trimmed)
  return trimmed.startsWith('objstore://') ? { value: trimmed } : NO_REF
}

/** The text of a field that reads as this value. */
export function typedText(type: string, value: unknown): string {
  if (value === undefined) return ''
  if (typeof value === 'string' && type !== 'json') return value
  return JSON.stringify(value, null, 2)
}

const NO_BOOLEAN = { problem: 'must be true or false' }
const NO_REF = { problem: 'must be the ref of a stored object: objstore://…' }

function readNumber(text: string): Typed {
  const value = Number(text)
  const changed = changedNumber(text)
  if (changed !== undefined) return { problem: `cannot be taken: ${changedWords(changed)}` }
  return Number.isFinite(value) ? { value } : { problem: 'must be a number' }
}

function readJson(text: string): Typed {
  try {
    const value: unknown = JSON.parse(text)
    const [changed] = changedNumbers(text)
    return changed === undefined ? { value } : { problem: `cannot be taken: ${changedWords(changed)}` }
  } catch (error) {
    return { problem: `is no JSON: ${error instanceof Error ? error.message : String(error)}` }
  }
}
