import type { Json } from '../canonical.ts'
import type { Block, GateUse } from './dag.ts'
import { LIMITS } from './limits.ts'
import type { BlockPorts } from './read-block-ports.ts'
import { type PhaseGates, readComposition } from './read-composition.ts'
import { type RoutingGate, readGate } from './read-gate.ts'
import { type Reading, readList } from './reading.ts'
import type { Problem } from './report.ts'
import type { Path } from './source.ts'

export interface BlockGates {
  readonly gates: Pick<Block, 'pre_gates' | 'post_gates' | 'gate_composition'>
  /** Names of all that were written, right or wrong. */
  readonly names: ReadonlySet<string>
  readonly routing: readonly RoutingGate[]
}

/**
 * The gates of a block and how their verdicts become one. Pre-gates read inputs, post-gates inputs and outputs: a port
 * that is neither is a problem here, never at run time.
 */
export function readGates(
  reading: Reading,
  block: Readonly<Partial<Record<'pre_gates' | 'post_gates' | 'gate_composition', Json | undefined>>>,
  path: Path,
  { inputs, outputs }: BlockPorts,
): BlockGates {
  const taken = new Set<string>()
  const routing: RoutingGate[] = []
  const read = (phase: 'pre' | 'post', ports: ReadonlySet<string>): PhaseGates => {
    const names: string[] = []
    const at = [...path, `${phase}_gates`]
    const given = block[`${phase}_gates`]
    const list = given === undefined ? [] : (readList(reading, given, at) ?? [])
    const place = { reading, phase, names, taken, ports, routing }
    return { uses: list.flatMap((gate, index) => readGate(place, gate, [...at, index])), names, count: list.length }
  }
  const pre = read('pre', new Set(inputs.keys()))
  const post = read('post', new Set([...inputs.keys(), ...outputs.keys()]))
  checkCount(reading, pre.count + post.count, [...path, post.count > 0 ? 'post_gates' : 'pre_gates'])
  const at = [...path, 'gate_composition']
  const gate_composition = readComposition(reading, block.gate_composition, at, { pre, post })
  return { gates: { pre_gates: pre.uses, post_gates: post.uses, gate_composition }, names: taken, routing }
}

/** Gates outside the two phases: those of a foreach's items. Their names must differ from those of the block's gates. */
export function readGateList(
  reading: Reading,
  given: Json | undefined,
  path: Path,
  ports: ReadonlySet<string>,
  others: ReadonlySet<string>,
): readonly GateUse[] {
  const list = given === undefined ? [] : (readList(reading, given, path) ?? [])
  checkCount(reading, list.length, path)
  const place = { reading, phase: 'item' as const, names: [], taken: new Set(others), ports, routing: [] }
  return list.flatMap((gate, index) => readGate(place, gate, [...path, index]))
}

function checkCount({ problems }: Reading, count: number, path: Path): void {
  if (count <= LIMITS.gates_per_block) return
  const text = `has ${count} gates; the limit is ${LIMITS.gates_per_block}`
  const say: Problem['say'] = ({ who }) => ({ text: `${who} ${text}` })
  problems.push({ code: 'limit_exceeded', path, on: 'key', say })
}
