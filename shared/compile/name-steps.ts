import { type CompiledBlock, entryOfBlock } from './emit-block.ts'
import type { Step, Steps } from './flatten.ts'

/** A step with the name of the state it begins with. */
export type NamedStep =
  | { readonly kind: 'block'; readonly entry: string; readonly block: CompiledBlock }
  | { readonly kind: 'wait'; readonly entry: string; readonly join: NamedJoin }
  | { readonly kind: 'par'; readonly entry: string; readonly branches: readonly NamedSequence[] }

export interface NamedSequence {
  readonly entry: string
  readonly steps: readonly NamedStep[]
}

export interface NamedJoin {
  /** Key of its item in the store: the block it stands before in base 36, then `.2` for a second one there. */
  readonly id: string
  /** Ids of the blocks that signal it. */
  readonly sources: readonly string[]
}

interface Naming {
  readonly blocks: readonly CompiledBlock[]
  readonly joins: NamedJoin[]
  /** Joins so far, by the block they stand before. */
  readonly joinsBefore: Map<string, number>
  parallels: number
}

/**
 * Names joins `_wait_<block id>` and Parallels `_parallel_<n>`, both in the order of the machine's text. A block id
 * neither begins with `_` nor holds a dot, so no name of ours meets a block's. `entry` is where an empty DAG begins.
 */
export function nameSteps(steps: Steps, blocks: readonly CompiledBlock[], entry: string) {
  const naming: Naming = { blocks, joins: [], joinsBefore: new Map(), parallels: 0 }
  const sequence = nameSequence(naming, steps, entry)
  return { sequence, joins: naming.joins, parallels: naming.parallels }
}

function nameSequence(naming: Naming, steps: Steps, entry: string): NamedSequence {
  const named = steps.map((step) => nameStep(naming, step))
  return { entry: named[0]?.entry ?? entry, steps: named }
}

function nameStep(naming: Naming, step: Step): NamedStep {
  switch (step.kind) {
    case 'block': {
      const block = blockAt(naming, step.block)
      return { kind: 'block', entry: entryOfBlock(block), block }
    }
    case 'wait': {
      const { id } = blockAt(naming, step.join.before)
      const nth = (naming.joinsBefore.get(id) ?? 0) + 1
      naming.joinsBefore.set(id, nth)
      const suffix = nth === 1 ? '' : `.${nth}`
      const sources = step.join.sources.map((source) => blockAt(naming, source).id)
      const join = { id: `${step.join.before.toString(36)}${suffix}`, sources }
      naming.joins.push(join)
      return { kind: 'wait', entry: `_wait_${id}${suffix}`, join }
    }
    case 'par': {
      const entry = `_parallel_${++naming.parallels}`
      return { kind: 'par', entry, branches: step.branches.map((branch) => nameSequence(naming, branch, entry)) }
    }
  }
}

function blockAt({ blocks }: Naming, index: number): CompiledBlock {
  const block = blocks[index]
  if (block === undefined) throw new RangeError(`no block of index ${index} among ${blocks.length}`)
  return block
}
