import { FUNCTIONS } from '../../shared/catalog.ts'
import { bindPlaceholders } from '../../shared/compile/bind-placeholders.ts'
import { compileDag } from '../../shared/compile/compile-dag.ts'
import type { CompiledBlock } from '../../shared/compile/emit-block.ts'
import type { Upstream } from '../../shared/compile/topological-order.ts'

const ACCOUNT = 'eu-central-1:123456789012'

/** Ids as long as people write them. */
export function blocksOf(upstream: Upstream): readonly CompiledBlock[] {
  const idOf = (v: number) => `block-${v}`
  return upstream.map((sources, v) => ({ id: idOf(v), upstream: sources.map(idOf) }))
}

/** Of all machines of the DAG, with ARNs in it and without what a machine without blocks takes. */
export function bytesPerBlock(upstream: Upstream): number {
  return (bytesOf(upstream) - bytesOf([])) / Math.max(1, upstream.length)
}

function bytesOf(upstream: Upstream): number {
  const { text, parts } = compileDag({ blocks: blocksOf(upstream) })
  const functions = FUNCTIONS.flatMap(({ name, placeholder }) =>
    placeholder === undefined ? [] : [[placeholder, `arn:aws:lambda:${ACCOUNT}:function:sluice-prod-${name}`]],
  )
  const machines = parts.map((_, i) => [
    `Part${i + 1}`,
    `arn:aws:states:${ACCOUNT}:stateMachine:sluice-prod-x-${i + 1}`,
  ])
  const values = Object.fromEntries([...functions, ...machines])
  return [text, ...parts.map((part) => part.text)].reduce((sum, one) => sum + bindPlaceholders(one, values).length, 0)
}
