import { leavesOf } from '../gates/check-parts.ts'
import { gateOf } from '../gates/registry.ts'
import type { Dag, GateUse } from './dag.ts'

/** Something a valid document will suffer from when it runs. */
export interface DagWarning {
  readonly code: string
  /** `blocks[1].post_gates[0].check`. */
  readonly path: string
  readonly message: string
}

/** Warnings of a document that is valid; none of them keeps it from being started. */
export function dagWarnings({ blocks }: Dag): readonly DagWarning[] {
  return blocks.flatMap(({ id, index, pre_gates, post_gates, foreach }) => [
    ...deadGates(pre_gates, `blocks[${index}].pre_gates`, id),
    ...deadGates(post_gates, `blocks[${index}].post_gates`, id),
    ...deadGates(foreach?.item_gates ?? [], `blocks[${index}].foreach.item_gates`, id),
  ])
}

/** Gates of a kind no place can carry out yet: their verdict is always `error`, which never passes. */
function deadGates(gates: readonly GateUse[], path: string, block: string): readonly DagWarning[] {
  return gates.flatMap(({ name, check }, at) => {
    const dead = leavesOf(check).filter(({ type }) => gateOf(type)?.unavailable === true)
    return [...new Set(dead.map(({ type }) => type))].map((type) => {
      const message = `Gate "${name}" of block "${block}" has type "${type}", which cannot run in this version: its verdict will be "error", which never passes.`
      return { code: 'gate_cannot_run', path: `${path}[${at}].check`, message }
    })
  })
}
