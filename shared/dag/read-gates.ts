import type { Json } from '../canonical.ts'
import type { Block } from './dag.ts'
import { LIMITS } from './limits.ts'
import type { BlockPorts } from './read-block-ports.ts'
import { type PhaseGates, readComposition } from './read-composition.ts'
import { readGate } from './read-gate.ts'
import { type Reading, readList } from './reading.ts'
import type { Problem } from './report.ts'
import type { Path } from './source.ts'

/**
 * The gates of a block and how their verdicts become one. Pre-gates read inputs, post-gates inputs and outputs: a port
 * that is neither is a problem here, never at run time (spec gates).
 */
export function readGates(
  reading: Reading,
  block: Readonly<Partial<Record<'pre_gates' | 'post_gates' | 'gate_composition', Json | undefined>>>,
  path: Path,
  { inputs, outputs }: BlockPorts,
): Pick<Block, 'pre_gates' | 'post_gates' | 'gate_composition'> {
  const taken = new Set<string>()
  const read = (phase: 'pre' | 'post', ports: ReadonlySet<string>): PhaseGates => {
    const names: string[] = []
    const at = [...path, `${phase}_gates`]
    const given = block[`${phase}_gates`]
    const list = given === undefined ? [] : (readList(reading, given, at) ?? [])
    const place = { reading, phase, names, taken, ports }
    return { uses: list.flatMap((gate, index) => readGate(place, gate, [...at, index])), names, count: list.length }
  }
  const pre = read('pre', new Set(inputs.keys()))
  const post = read('post', new Set([...inputs.keys(), ...outputs.keys()]))
  checkCount(reading, pre.count + post.count, [...path, post.count > 0 ? 'post_gates' : 'pre_gates'])
  const at = [...path, 'gate_composition']
  const gate_composition = readComposition(reading, block.gate_composition, at, { pre, post })
  return { pre_gates: pre.uses, post_gates: post.uses, gate_composition }
}

function checkCount({ problems }: Reading, count: number, path: Path): void {
  if (count <= LIMITS.gates_per_block) return
  const text = `has ${count} gates; the limit is ${LIMITS.gates_per_block}`
  const say: Problem['say'] = ({ who }) => ({ text: `${who} ${text}` })
  problems.push({ code: 'limit_exceeded', path, on: 'key', say })
}
