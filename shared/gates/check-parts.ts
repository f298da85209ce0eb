import type { Json } from '../canonical.ts'
import type { GateUse } from '../dag/dag.ts'

/** The keys a check may compose others by; each is the type name of its verdict too (spec gates, "Envelope"). */
export const COMPOSITIONS = ['any_of', 'all_of', 'at_least'] as const
export type Composition = (typeof COMPOSITIONS)[number]

/** Of one gate: compositions within each other, and the checks of gate types in them. */
export const PART_LIMITS = { depth: 5, leaves: 50 } as const

type Check = GateUse['check']

/** Which keys of a composition stand where, as a document writes them. */
export const COMPOSITION_KEYS: Readonly<
  Record<Composition, { readonly list: string; readonly all: readonly string[] }>
> = {
  any_of: { list: 'any_of', all: ['any_of', 'not'] },
  all_of: { list: 'all_of', all: ['all_of', 'not'] },
  at_least: { list: 'of', all: ['at_least', 'of', 'not'] },
}

/** What each says, for the reference and for editors. */
export const COMPOSITION_WORDS: Readonly<Record<Composition, string>> = {
  any_of: 'Passes when at least one of its checks does.',
  all_of: 'Passes when every one of its checks does.',
  at_least: 'Passes when at least that many of the checks below `of` do.',
}

/** The composition of that name. */
export function compositionOf(type: unknown): Composition | undefined {
  return COMPOSITIONS.find((known) => known === type)
}

/** The checks a parsed check composes, and how many of them must hold; undefined = a check of a gate type. */
export function partsOf(check: Check): { readonly wanted: number; readonly parts: readonly Check[] } | undefined {
  const composition = compositionOf(check.type)
  if (composition === undefined) return undefined
  const list = check[COMPOSITION_KEYS[composition].list]
  // Anything but what parseCheck() leaves was never parsed: it has no parts, so that it holds nothing.
  const parts = Array.isArray(list) && list.every(isCheck) ? list : []
  const wanted = { any_of: 1, all_of: Math.max(1, parts.length), at_least: Number(check.at_least) }[composition]
  return { wanted, parts }
}

/** The checks of gate types a parsed check is made of, in the order of the document. */
export function leavesOf(check: Check): readonly Check[] {
  return partsOf(check)?.parts.flatMap(leavesOf) ?? [check]
}

/** The parameters of a check of a gate type, as its kind knows them. */
export function paramsOf({ type: _, not: __, ...params }: Check): Readonly<Record<string, Json>> {
  return params
}

function isCheck(value: Json): value is Check {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
}
