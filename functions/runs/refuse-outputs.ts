import type { Block, Dag } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import { childOutputs } from '../../shared/runs/child-outputs.ts'

/** Said before anything is spent: an output this block promises that the child cannot give. */
export function refuseOutputs(block: Extract<Block, { mode: 'dag' }>, dag: Dag): void {
  const missing = childOutputs(block, dag).filter(({ sources, required, named }) => {
    return sources.length === 0 && (required || named !== undefined)
  })
  const [first] = missing
  if (first === undefined) return
  const { port, named } = first
  const seen = named === undefined ? `no last block with an output "${port}"` : `no output "${named}"`
  const fix = `Name one under dag.outputs of block "${block.id}": ${port}: BLOCK.OUTPUT.`
  const message = `Cannot start DAG "${block.dag.name}": output "${block.id}.${port}" comes from it, but it has ${seen}. ${fix}`
  throw new Fault('InvalidInput', 'unknown_child_output', message)
}
