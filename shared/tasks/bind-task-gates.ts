import type { Block, Dag } from '../dag/dag.ts'
import { listed, quoted } from '../dag/wording.ts'
import { parseCheck } from '../gates/parse-check.ts'
import type { Settings } from '../settings.ts'
import { reviewIssues, type TaskIssue } from './review-issues.ts'
import type { TaskGate, TaskGateSettings } from './task-gate.ts'

/** What settings say of tasks. */
export type TaskSettings = Pick<Settings, 'gates' | 'pipelines'>

export type GatedDag =
  | { readonly ok: true; readonly dag: Dag }
  | { readonly ok: false; readonly issues: readonly TaskIssue[] }

/**
 * The document with the gates of its pipeline, so that a run keeps those it began with. A document that moves a task and
 * has no pipeline is refused: its moves would stand before no gate. Others stay as they are.
 */
export function bindTaskGates(dag: Dag, { gates, pipelines }: TaskSettings): GatedDag {
  const moves = dag.blocks.filter(movesTask)
  const [first] = moves
  if (first === undefined) return { ok: true, dag }
  const pipeline = Object.values(pipelines).find((candidate) => candidate.dag === dag.name)
  if (pipeline === undefined) return { ok: false, issues: [noPipeline(dag, first, pipelines)] }
  const issues = [...moves.flatMap(onceIssues), ...reviewIssues(dag)]
  if (issues.length > 0) return { ok: false, issues }
  const used = pipeline.gates.flatMap((name) => gates.filter((gate) => gate.name === name))
  return { ok: true, dag: { ...dag, task_gates: used.map(bound) } }
}

/** The same without a run: what a start would refuse. */
export function taskErrors(dag: Dag, settings: TaskSettings): readonly TaskIssue[] {
  const bound = bindTaskGates(dag, settings)
  return bound.ok ? [] : bound.issues
}

function movesTask(block: Block): boolean {
  return block.mode === 'deterministic' && block.handler === 'move-task'
}

function noPipeline(dag: Dag, { id, index }: Block, pipelines: TaskSettings['pipelines']): TaskIssue {
  const known = listed(Object.values(pipelines).map((pipeline) => pipeline.dag))
  const message = `Block "${id}" moves a task, but no pipeline of sluice.yaml is for DAG ${quoted(dag.name)}; there are pipelines for ${known}.`
  const hint = `Add it under pipelines in sluice.yaml: NAME: { dag: ${dag.name}, gates: [..] }.`
  return { code: 'no_pipeline', path: `blocks[${index}].deterministic`, message, hint }
}

/** Items of one block would move one task against each other. */
function onceIssues({ id, index, foreach }: Block): readonly TaskIssue[] {
  if (foreach === undefined) return []
  const message = `Block "${id}" moves a task and has "foreach", but a move is made once, by the block itself. Take "foreach" away.`
  return [{ code: 'task_move_once', path: `blocks[${index}].foreach`, message }]
}

/** Settings were checked when they were read (task-gate-issues.ts), so the check parses; one that did not would hold nothing. */
function bound({ name, on: { from, to }, check, error }: TaskGateSettings): TaskGate {
  const parsed = parseCheck(check)
  const use = parsed.ok ? parsed.check : { ...check, type: String(check.type) }
  const sides = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }
  return { name, ...sides, check: use, error, on_fail: 'fail' }
}
