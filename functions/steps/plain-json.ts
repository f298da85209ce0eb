import { MAX_DEPTH } from '../../shared/text/strict-json.ts'

/**
 * What of a step's outputs JSON has no word for, with its place; undefined = nothing. JSON.stringify leaves such a value out,
 * makes null or {} of it, or throws: nobody behind the step would know.
 */
export function problemOfOutputs(outputs: object): string | undefined {
  return firstProblem(outputs, (port, value) => problemOf(value, port, 0))
}

function problemOf(value: unknown, at: string, depth: number): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `${at} is ${value}`
  if (NO_JSON.has(typeof value)) return `${at} is ${kindOf(value)}`
  if (typeof value !== 'object' || value === null) return undefined
  if (depth === MAX_DEPTH) return `${at.slice(0, SHOWN)}.. nests deeper than ${MAX_DEPTH} levels, or holds itself`
  // A date, say, is the text that it says it is.
  if ('toJSON' in value && typeof value.toJSON === 'function') return undefined
  if (EMPTY.some((kind) => value instanceof kind)) return `${at} is ${kindOf(value)}`
  if (Array.isArray(value)) return problemOfList(value, at, depth)
  return firstProblem(value, (key, member) => problemOf(member, `${at}.${key}`, depth + 1))
}

function problemOfList(list: readonly unknown[], at: string, depth: number): string | undefined {
  return firstProblem(list, (index, member) => {
    const place = `${at}[${index}]`
    return member === undefined ? `${place} is undefined` : problemOf(member, place, depth + 1)
  })
}

/** A member that is undefined is not there. */
function firstProblem(value: object, problemAt: (key: string, member: unknown) => string | undefined) {
  for (const [key, member] of Object.entries(value)) {
    const problem = problemAt(key, member)
    if (problem !== undefined) return problem
  }
  return undefined
}

const NO_JSON: ReadonlySet<string> = new Set(['bigint', 'function', 'symbol'])
/** Of these JSON makes {}. */
const EMPTY = [Map, Set, Promise, WeakMap, WeakSet, RegExp, Error]
const SHOWN = 80

function kindOf(value: unknown): string {
  return `a ${typeof value === 'object' ? value?.constructor.name : typeof value}`
}
