import type { Json } from '../canonical.ts'
import type { GateUse } from '../dag/dag.ts'
import { COMPOSITIONS, compositionOf } from './compositions.ts'

type Check = GateUse['check']

/** The checks a parsed check composes, and how many of them must hold; undefined = a check of a gate type. */
export function partsOf(check: Check): { readonly wanted: number; readonly parts: readonly Check[] } | undefined {
  const composition = compositionOf(check.type)
  if (composition === undefined) return undefined
  const list = check[COMPOSITIONS[composition].list]
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
