import type { Block, BudgetCaps } from '../dag/dag.ts'
import { isNativeHandler } from '../dag/native-call.ts'
import { isName, LIMITS, NAME_RULE } from '../limits.ts'
import type { Problem } from '../text/document-problems.ts'
import type { Json } from '../text/json.ts'
import { type Path, pathText } from '../text/source-position.ts'
import { describeValue } from '../text/wording.ts'
import { type Flow, readFlow } from './control-flow.ts'
import { readGates } from './gates.ts'
import { readWork, type Work } from './mode-sections.ts'
import { type BlockPorts, readBlockPorts } from './ports.ts'
import { readApproval } from './read-approval.ts'
import { type Mapping, type Reading, readSection, SECTIONS } from './sections.ts'

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
    timeout_ms: readTimeout(reading, section.timeout_ms, work, [...path, 'timeout_ms']),
    strict_output: section.strict_output ?? true,
    contract_repair_attempts: section.contract_repair_attempts ?? 1,
    ...flow.settled,
  }
  const budget = readBudget(reading, 'block_budget', section.budget, [...path, 'budget'])
  const known = { ...(id === undefined ? {} : { id }), ...(work === undefined ? {} : { work }) }
  const told = { ...known, ...(budget === undefined ? {} : { budget }) }
  return { index, path, ...told, ...ports, gates: names, settled, reads: flow.reads }
}

/** A function of ours ends after 900 s; what AWS does itself may take days. */
function readTimeout({ problems }: Reading, given = 300_000, work: BlockDraft['work'], path: Path): number {
  if (given <= LIMITS.timeout_ms || (work?.mode === 'deterministic' && isNativeHandler(work.handler))) return given
  const text = `is ${given}; the limit is ${LIMITS.timeout_ms}`
  problems.push({ code: 'limit_exceeded', path, say: ({ place }) => ({ text: `${place} ${text}` }) })
  return given
}

function warnFolder({ warnings }: Reading, path: Path): void {
  const message =
    '"block_dir" has no effect: nothing is read from folders. Write the texts into "agent.prompt" and "agent.system".'
  warnings.push({ code: 'key_without_effect', path: pathText([...path, 'block_dir']), message })
}

/** The id of a block, when it has one that is allowed. */
function readId({ problems }: Reading, id: Json | undefined, path: Path): string | undefined {
  if (typeof id === 'string' && isName(id)) return id
  if (id === undefined || id === null) {
    const say: Problem['say'] = ({ who }) => ({ text: `${who} has no id`, hint: 'Add id: NAME.' })
    problems.push({ code: 'missing_id', path, say })
  } else {
    const text = `has the id ${describeValue(id)}, which is not allowed; allowed are ${NAME_RULE}`
    problems.push({ code: 'illegal_id', path, say: () => ({ text: `${path[0]}[${path[1]}] ${text}` }) })
  }
  return undefined
}

/** The caps of a document or of a block; one without any cap is a problem, since it would promise what it does not do. */
export function readBudget(
  reading: Reading,
  section: 'budget' | 'block_budget',
  given: Json | undefined,
  path: Path,
): BudgetCaps | undefined {
  const read = given === undefined ? undefined : readSection(reading, SECTIONS[section], given, path)
  if (read === undefined) return undefined
  const { tokens, usd } = read
  if (tokens === undefined && usd === undefined) refuseEmpty(reading, given, path)
  return { ...(tokens === undefined ? {} : { tokens }), ...(usd === undefined ? {} : { usd }) }
}

function refuseEmpty({ problems }: Reading, given: Json | undefined, path: Path): void {
  // A cap that is there but wrong is a problem already.
  const keys = Object.keys(given ?? {})
  if (keys.includes('tokens') || keys.includes('usd')) return
  const say: Problem['say'] = ({ place }) => ({
    text: `${place} has no cap; "tokens", "usd" or both are needed`,
    hint: 'Write budget: { tokens: 200000, usd: 5 }, or remove it.',
  })
  problems.push({ code: 'missing_key', path, on: 'key', say })
}
