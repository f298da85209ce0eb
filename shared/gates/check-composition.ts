import type { GateUse } from '../dag/dag.ts'
import type { Json } from '../text/json.ts'

type Check = GateUse['check']

/** The checks a parsed check composes, and how many of them must hold; undefined = a check of a gate type. */
export function partsOfCheck(check: Check): { readonly wanted: number; readonly parts: readonly Check[] } | undefined {
  const composition = findComposition(check.type)
  if (composition === undefined) return undefined
  const list = check[COMPOSITIONS[composition].list]
  // Anything but what parseCheck() leaves was never parsed: it has no parts, so that it holds nothing.
  const parts = Array.isArray(list) && list.every(isCheck) ? list : []
  const wanted = { any_of: 1, all_of: Math.max(1, parts.length), at_least: Number(check.at_least) }[composition]
  return { wanted, parts }
}

/** The checks of gate types a parsed check is made of, in the order of the document. */
export function leafChecks(check: Check): readonly Check[] {
  return partsOfCheck(check)?.parts.flatMap(leafChecks) ?? [check]
}

/** The parameters of a check of a gate type, as its kind knows them. */
export function paramsOfCheck({ type: _, not: __, ...params }: Check): Readonly<Record<string, Json>> {
  return params
}

function isCheck(value: Json): value is Check {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}

/**
 * The keys a check may compose others by; each is the type name of its verdict too (docs/gates.md). `list` has the
 * checks, `all` are the keys that may stand together in a document, `words` are for the reference and for editors.
 */
export const COMPOSITIONS = {
  any_of: { list: 'any_of', all: ['any_of', 'not'], words: 'Passes when at least one of its checks does.' },
  all_of: { list: 'all_of', all: ['all_of', 'not'], words: 'Passes when every one of its checks does.' },
  at_least: {
    list: 'of',
    all: ['at_least', 'of', 'not'],
    words: 'Passes when at least that many of the checks below `of` do.',
  },
} as const satisfies Readonly<
  Record<string, { readonly list: string; readonly all: readonly string[]; readonly words: string }>
>

export type Composition = keyof typeof COMPOSITIONS

/** Of one gate: compositions within each other, and the checks of gate types in them. */
export const PART_LIMITS = { depth: 5, leaves: 50 } as const

/** The composition of that name. */
export function findComposition(name: unknown): Composition | undefined {
  // The keys of COMPOSITIONS are its names; Object.keys answers plain texts.
  return (Object.keys(COMPOSITIONS) as Composition[]).find((known) => known === name)
}

/**
 * What one check comes to. `unfit`: there was nothing to judge (missing, null, NaN, wrong type, unknown, too much);
 * `error`: it could not be judged. Neither is a pass, and neither becomes one by negation.
 */
export type Outcome = 'pass' | 'fail' | 'unfit' | 'error'

/** `not: true`: only what was judged turns round. */
export function negateOutcome(outcome: Outcome): Outcome {
  if (outcome === 'pass') return 'fail'
  return outcome === 'fail' ? 'pass' : outcome
}

/**
 * At least `wanted` of them: a pass as soon as so many pass, whatever the others are; a fail once too many fail, whatever
 * the others are; else `error` if any part is, else `unfit`. `any_of` wants 1, `all_of` all. By this rule De Morgan's laws
 * hold: not(at least k of xs) = at least (n - k + 1) of the negated xs.
 */
export function atLeast(wanted: number, outcomes: readonly Outcome[]): Outcome {
  const count = (kind: Outcome) => outcomes.filter((outcome) => outcome === kind).length
  if (count('pass') >= wanted) return 'pass'
  if (count('fail') > outcomes.length - wanted) return 'fail'
  return count('error') > 0 ? 'error' : 'unfit'
}

type ReadCheck = GateUse['check']
type Path = readonly (string | number)[]
type Written = Readonly<Record<string, unknown>>

/** Something wrong with how checks are put together. `text` goes on from the name of its place. */
interface PartProblem {
  readonly code: 'unknown_key' | 'missing_key' | 'wrong_type' | 'invalid_value' | 'limit_exceeded'
  readonly path: Path
  readonly on?: 'key'
  readonly text: string
}

/** Who reads the checks of gate types, and is told what is wrong with the rest. */
interface PartReader {
  /** `not` is taken away. Answers undefined when it has told what is wrong. */
  leaf(given: unknown, path: Path): ReadCheck | undefined
  refuse(problem: PartProblem): void
}

/**
 * Reads a check as a document writes it: of a gate type, `any_of`, `all_of`, or `at_least` with `of`; any of them with
 * `not: true`. Each composition gets its key as its type, so that reading what was read changes nothing.
 */
export function readComposedCheck(given: unknown, reader: PartReader, path: Path = []): ReadCheck | undefined {
  return readPart({ reader, spent: { leaves: 0 } }, given, path, 0)
}

interface Walk {
  readonly reader: PartReader
  readonly spent: { leaves: number }
}

function readPart(walk: Walk, given: unknown, path: Path, depth: number): ReadCheck | undefined {
  const { reader, spent } = walk
  const written = isWritten(given) ? given : {}
  const { not, ...rest } = written
  const composition =
    Object.keys(written)
      .map(findComposition)
      .find((key) => key !== undefined) ?? findComposition(written.type)
  let check: ReadCheck | undefined
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
): ReadCheck | undefined {
  if (depth > PART_LIMITS.depth) {
    const text = `is composed more than ${PART_LIMITS.depth} levels deep, which is the limit`
    walk.reader.refuse({ code: 'limit_exceeded', path, text })
    return undefined
  }
  const isSound = refuseKeys(walk, composition, written, path)
  const key = COMPOSITIONS[composition].list
  const list = readList(walk, written[key], [...path, key])
  if (list === undefined) return undefined
  const parts: ReadCheck[] = []
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
      key === 'type' || findComposition(key) !== undefined
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
