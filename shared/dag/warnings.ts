import { listProblem } from '../gate-settings.ts'
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

type Place = Partial<Pick<Settings, 'shell_gates' | 'http_gates'>>

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

/** Commands that this place does not run and hosts it does not ask: their verdict never passes. */
function deadGates(gates: readonly GateUse[], path: string, block: string, place: Place): readonly DagWarning[] {
  return gates.flatMap(({ name, check }, at) => {
    const refusals = leavesOf(check).flatMap((leaf) => refusalOf(leaf, place))
    return [...new Set(refusals)].map((refusal) => {
      const message = `Gate "${name}" of block "${block}" will never pass: ${refusal}.`
      return { code: 'gate_cannot_run', path: `${path}[${at}].check`, message }
    })
  })
}

function refusalOf({ type, command, url }: GateUse['check'], { shell_gates, http_gates }: Place): readonly string[] {
  if (type === 'shell' && shell_gates !== undefined) {
    // parseCheck() left the words; nothing else is a parsed check.
    const argv = Array.isArray(command) ? command.map(String) : []
    return [shellRefusal(shell_gates, argv) ?? []].flat()
  }
  if (!ASKING.has(type) || http_gates === undefined || typeof url !== 'string') return []
  const host = URL.parse(url)?.hostname
  return host === undefined ? [] : [listProblem(host, http_gates) ?? []].flat()
}

const ASKING: ReadonlySet<string> = new Set(['http', 'webhook'])
