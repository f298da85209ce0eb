import type { Json } from '../canonical.ts'
import type { Block, BudgetCaps } from './dag.ts'
import { readApproval } from './read-approval.ts'
import { type BlockPorts, readBlockPorts } from './read-block-ports.ts'
import { readBudget } from './read-budget.ts'
import { type Flow, readFlow } from './read-flow.ts'
import { readGates } from './read-gates.ts'
import { readId } from './read-id.ts'
import { readSection } from './read-section.ts'
import { readWork, type Work } from './read-work.ts'
import type { Mapping, Reading } from './reading.ts'
import { SECTIONS } from './sections.ts'
import { type Path, pathText } from './source.ts'

/** A block read on its own; references to other blocks are not looked at yet. */
export interface BlockDraft extends BlockPorts {
  readonly index: number
  readonly path: readonly ['blocks', number]
  /** Absent when missing or not allowed. */
  readonly id?: string
  readonly work?: Work
  /** What goes into the normalised block as it is. */
  readonly settled: Pick<Block, Settled>
  /** It is no part of the block's definition, and so of its hash. */
  readonly budget?: BudgetCaps
  /** Names of its gates, right or wrong. */
  readonly gates: ReadonlySet<string>
  /** What its conditions read: places of `when`, outcomes of `depends`. */
  readonly reads: Flow['reads']
}

type Settled =
  | 'name'
  | 'pre_gates'
  | 'post_gates'
  | 'gate_composition'
  | 'on_gate_fail'
  | 'approval'
  | 'retry'
  | 'timeout_ms'
  | 'strict_output'
  | 'contract_repair_attempts'
  | 'when'
  | 'depends'
  | 'foreach'
  | 'cache'

/** Reads one item of `blocks`, with its defaults (docs/dag.md, "Block"). */
export function readBlock(reading: Reading, given: Json, index: number): BlockDraft | undefined {
  const path = ['blocks', index] as const
  const section = readSection(reading, SECTIONS.block, given, path)
  if (section === undefined) return undefined
  if (section.block_dir !== undefined) warnFolder(reading, path)
  const id = readId(reading, section.id, [...path, 'id'])
  const name = section.name ?? id ?? ''
  const ports = readBlockPorts(reading, section, path)
  const approval = readApproval(reading, section.approval, [...path, 'approval'], { name, inputs: ports.inputs })
  // readSection answered: it is a mapping.
  const work = readWork(reading, given as Mapping, path, { approval, outputs: ports.outputs })
  const { gates, names, routing } = readGates(reading, section, path, ports)
  const flow = readFlow(reading, section, path, { ports, mode: section.mode, names, routing })
  const settled = {
    name,
    ...gates,
    ...(approval === undefined ? {} : { approval }),
    timeout_ms: section.timeout_ms ?? 300_000,
    strict_output: section.strict_output ?? true,
    contract_repair_attempts: section.contract_repair_attempts ?? 1,
    ...flow.settled,
  }
  const budget = readBudget(reading, 'block_budget', section.budget, [...path, 'budget'])
  const known = { ...(id === undefined ? {} : { id }), ...(work === undefined ? {} : { work }) }
  const told = { ...known, ...(budget === undefined ? {} : { budget }) }
  return { index, path, ...told, ...ports, gates: names, settled, reads: flow.reads }
}

function warnFolder({ warnings }: Reading, path: Path): void {
  const message =
    '"block_dir" has no effect: nothing is read from folders. Write the texts into "agent.prompt" and "agent.system".'
  warnings.push({ code: 'key_without_effect', path: pathText([...path, 'block_dir']), message })
}
