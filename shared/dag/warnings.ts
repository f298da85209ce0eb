import { leavesOf } from '../gates/check-parts.ts'
import { shellRefusal } from '../gates/shell-refusal.ts'
import type { Settings } from '../settings.ts'
import type { Dag, GateUse } from './dag.ts'

/** Something a valid document will suffer from when it runs. */
export interface DagWarning {
  readonly code: string
  /** `blocks[1].post_gates[0].check`. */
  readonly path: string
  readonly message: string
}

type Place = Partial<Pick<Settings, 'shell_gates'>>

/**
 * Warnings of a document that is valid; none of them keeps it from being started. Those of a place are told where its
 * settings are known.
 */
export function dagWarnings({ blocks }: Dag, place: Place = {}): readonly DagWarning[] {
  return blocks.flatMap(({ id, index, pre_gates, post_gates, foreach }) => [
    ...deadGates(pre_gates, `blocks[${index}].pre_gates`, id, place),
    ...deadGates(post_gates, `blocks[${index}].post_gates`, id, place),
    ...deadGates(foreach?.item_gates ?? [], `blocks[${index}].foreach.item_gates`, id, place),
  ])
}

/** Commands that this place does not run: their verdict is always `error`, which never passes. */
function deadGates(
  gates: readonly GateUse[],
  path: string,
  block: string,
  { shell_gates }: Place,
): readonly DagWarning[] {
  if (shell_gates === undefined) return []
  return gates.flatMap(({ name, check }, at) => {
    const refusals = leavesOf(check).flatMap((leaf) => (leaf.type === 'shell' ? refusalOf(leaf, shell_gates) : []))
    return [...new Set(refusals)].map((refusal) => {
      const message = `Gate "${name}" of block "${block}" will be "error", which never passes: ${refusal}.`
      return { code: 'gate_cannot_run', path: `${path}[${at}].check`, message }
    })
  })
}

function refusalOf({ command }: GateUse['check'], allowed: Settings['shell_gates']): readonly string[] {
  // parseCheck() left the words; nothing else is a parsed check.
  const argv = Array.isArray(command) ? command.map(String) : []
  return [shellRefusal(allowed, argv) ?? []].flat()
}
