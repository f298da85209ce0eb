import type { Json } from '../canonical.ts'
import type { GateUse } from '../dag/dag.ts'
import { COMPOSITIONS, type Composition, compositionOf, PART_LIMITS } from './compositions.ts'

type Check = GateUse['check']
type Path = readonly (string | number)[]
type Written = Readonly<Record<string, unknown>>

/** Something wrong with how checks are put together. `text` goes on from the name of its place. */
export interface PartProblem {
  readonly code: 'unknown_key' | 'missing_key' | 'wrong_type' | 'invalid_value' | 'limit_exceeded'
  readonly path: Path
  readonly on?: 'key'
  readonly text: string
}

/** Who reads the checks of gate types, and is told what is wrong with the rest. */
export interface PartReader {
  /** `not` is taken away. Answers undefined when it has told what is wrong. */
  leaf(given: unknown, path: Path): Check | undefined
  refuse(problem: PartProblem): void
}

/**
 * Reads a check as a document writes it: of a gate type, `any_of`, `all_of`, or `at_least` with `of`; any of them with
 * `not: true`. Each composition gets its key as its type, so that reading what was read changes nothing.
 */
export function readParts(given: unknown, reader: PartReader, path: Path = []): Check | undefined {
  return readPart({ reader, spent: { leaves: 0 } }, given, path, 0)
}

interface Walk {
  readonly reader: PartReader
  readonly spent: { leaves: number }
}

function readPart(walk: Walk, given: unknown, path: Path, depth: number): Check | undefined {
  const { reader, spent } = walk
  const written = isWritten(given) ? given : {}
  const { not, ...rest } = written
  const composition =
    Object.keys(written)
      .map(compositionOf)
      .find((key) => key !== undefined) ?? compositionOf(written.type)
  let check: Check | undefined
  if (composition === undefined) {
    spent.leaves += 1
    if (spent.leaves > PART_LIMITS.leaves) return refuseMore(walk, path)
    check = reader.leaf(isWritten(given) ? rest : given, path)
  } else {
    check = readComposition(walk, composition, rest, path, depth + 1)
  }
  if (not !== undefined && typeof not !== 'boolean') {
    const text = `must be true or false, got ${seen(not)}`
    reader.refuse({ code: 'wrong_type', path: [...path, 'not'], text })
    return undefined
  }
  return check === undefined || not !== true ? check : { ...check, not }
}

function readComposition(
  walk: Walk,
  composition: Composition,
  written: Written,
  path: Path,
  depth: number,
): Check | undefined {
  if (depth > PART_LIMITS.depth) {
    const text = `is composed more than ${PART_LIMITS.depth} levels deep, which is the limit`
    walk.reader.refuse({ code: 'limit_exceeded', path, text })
    return undefined
  }
  const isSound = refuseKeys(walk, composition, written, path)
  const key = COMPOSITIONS[composition].list
  const list = readList(walk, written[key], [...path, key])
  if (list === undefined) return undefined
  const parts: Check[] = []
  for (const [at, part] of list.entries()) {
    const read = readPart(walk, part, [...path, key, at], depth)
    if (read !== undefined) parts.push(read)
    if (walk.spent.leaves > PART_LIMITS.leaves) return undefined
  }
  const wanted = composition === 'at_least' ? readWanted(walk, written, list.length, path) : {}
  if (!isSound || wanted === undefined || parts.length < list.length) return undefined
  return { type: composition, ...wanted, [key]: parts }
}

/** A composition has its own keys and no others; `type` may say again which it is. */
function refuseKeys({ reader }: Walk, composition: Composition, written: Written, path: Path): boolean {
  const all: readonly string[] = COMPOSITIONS[composition].all
  const others = Object.keys(written).filter(
    (key) => !all.includes(key) && !(key === 'type' && written.type === composition),
  )
  for (const key of others) {
    const text =
      key === 'type' || compositionOf(key) !== undefined
        ? `stands beside "${composition}"; a check is of one gate type or composes others by one key`
        : `is an unknown key; allowed beside "${composition}" are ${all.join(', ')}`
    reader.refuse({ code: 'unknown_key', path: [...path, key], on: 'key', text })
  }
  return others.length === 0
}

function readList({ reader }: Walk, list: unknown, path: Path): readonly unknown[] | undefined {
  if (Array.isArray(list) && list.length > 0) return list
  if (list === undefined) reader.refuse({ code: 'missing_key', path, text: 'is missing; a list of checks is needed' })
  else if (Array.isArray(list)) reader.refuse({ code: 'invalid_value', path, text: 'is empty, so it could never pass' })
  else reader.refuse({ code: 'wrong_type', path, text: `must be a list of checks, got ${seen(list)}` })
  return undefined
}

function readWanted(
  { reader }: Walk,
  written: Written,
  count: number,
  path: Path,
): { readonly at_least: number } | undefined {
  const wanted = written.at_least
  if (Number.isInteger(wanted) && Number(wanted) >= 1 && Number(wanted) <= count) return { at_least: Number(wanted) }
  const at = [...path, 'at_least']
  const text = `must be a whole number from 1 to ${count}, the checks there are`
  if (wanted === undefined) reader.refuse({ code: 'missing_key', path: at, text: `is missing; it ${text}` })
  else reader.refuse({ code: 'invalid_value', path: at, text: `${text}, got ${seen(wanted)}` })
  return undefined
}

function refuseMore({ reader, spent }: Walk, path: Path): undefined {
  const text = `is one more than the ${PART_LIMITS.leaves} checks one gate may be composed of`
  if (spent.leaves === PART_LIMITS.leaves + 1) reader.refuse({ code: 'limit_exceeded', path, text })
  return undefined
}

function isWritten(given: unknown): given is Readonly<Record<string, Json>> {
  return typeof given === 'object' && given !== null && !Array.isArray(given)
}

function seen(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return `a list of ${value.length}`
  return typeof value === 'object' ? 'a mapping' : JSON.stringify(value).slice(0, 60)
}
