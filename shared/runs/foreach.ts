import type { Block, Foreach } from '../dag/dag.ts'
import { placeholderValue, templateReferences } from '../dag/template.ts'
import type { Json } from '../text/json.ts'

/** The list a foreach block goes over, with its resolved inputs; what its placeholder stands for may be no list. */
export function foreachList(foreach: Foreach, values: Readonly<Record<string, Json>>): Json | undefined {
  return typeof foreach.items === 'string' ? placeholderValue(foreach.items, values) : [...foreach.items]
}

/**
 * One item of a foreach block, as a block: it dispatches, keeps the contract, retries and is judged by the item's gates;
 * conditions, pre-gates, approval, cache and bounces are the whole block's. Its own input is the item; the list stays
 * among the values templates see.
 */
export function itemBlock(block: Block, foreach: Foreach): Block {
  const { when: _w, depends: _d, foreach: _f, cache: _c, on_gate_fail: _b, ...rest } = block
  const list = listPort(foreach)
  const inputs = Object.fromEntries(Object.entries(block.inputs).filter(([port]) => port !== list))
  return {
    ...rest,
    inputs: { ...inputs, [foreach.as]: { type: 'json', required: true } },
    upstream: [],
    pre_gates: [],
    post_gates: foreach.item_gates,
    gate_composition: { pre: 'all', post: 'all' },
  }
}

/** The input that is the list itself, if one is. */
function listPort({ items }: Foreach): string | undefined {
  const [reference] = typeof items === 'string' ? templateReferences(items) : []
  return reference?.kind === 'input' && reference.path.length === 1 ? reference.path[0] : undefined
}
