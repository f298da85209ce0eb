import type { Json } from '../../shared/canonical.ts'
import type { PortType } from '../../shared/dag/dag.ts'
import { changedNumber, changedNumbers, changedWords } from '../../shared/exact-numbers.ts'
import { usage } from './refused.ts'

/** A value as typed, in the type its port has; exit code 2 for what is none. `option` is told: `--input`. */
export function typedValue(option: string, key: string, value: string, type: PortType): Json {
  if (type === 'number') return numberOf(option, key, value)
  if (type === 'boolean') return booleanOf(option, key, value)
  return type === 'json' ? jsonOf(option, key, value) : value
}

function numberOf(option: string, key: string, value: string): number {
  const read = /^-?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/.test(value) ? Number(value) : Number.NaN
  const changed = Number.isFinite(read) ? changedNumber(value) : undefined
  if (changed !== undefined) {
    throw usage(`Cannot use ${option} ${key}: ${changedWords(changed)}, and declare "${key}" as a string.`)
  }
  if (Number.isFinite(read)) return read
  throw usage(`Cannot use ${option} ${key}=${value}: the document declares "${key}" as a number.`)
}

function booleanOf(option: string, key: string, value: string): boolean {
  if (value === 'true' || value === 'false') return value === 'true'
  throw usage(`Cannot use ${option} ${key}=${value}: the document declares "${key}" as a boolean, true or false.`)
}

function jsonOf(option: string, key: string, value: string): Json {
  const [changed] = changedNumbers(value)
  if (changed !== undefined) throw usage(`Cannot use ${option} ${key}: ${changedWords(changed)}.`)
  try {
    return JSON.parse(value)
  } catch (error) {
    throw usage(`Cannot use ${option} ${key}: the document declares it as json, and this is none (${String(error)}).`)
  }
}
