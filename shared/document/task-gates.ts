import type { Block, Dag, TaskGate } from '../dag/dag.ts'
import { type PipelineSettings, TASK_PORTS, type TaskGateSettings } from '../dag/task-gate-settings.ts'
import type { Issue } from '../errors.ts'
import { leafChecks } from '../gates/check-composition.ts'
import { isModulePath } from '../gates/gate-module.ts'
import { portsRead } from '../gates/judge.ts'
import { parseCheck } from '../gates/parse-check.ts'
import { gateKinds, moduleChecksIn, type ProjectGates } from '../gates/project-gates.ts'
import { didYouMean, listed, quoted, suggest } from '../text/wording.ts'

/** What settings say of tasks. */
export interface TaskSettings {
  readonly gates: readonly TaskGateSettings[]
  readonly pipelines: Readonly<Record<string, PipelineSettings>>
}

type GatedDag = { readonly ok: true; readonly dag: Dag } | { readonly ok: false; readonly issues: readonly TaskIssue[] }

/**
 * The document with the gates of its pipeline, so that a run keeps those it began with. A document that moves a task and
 * has no pipeline is refused: its moves would stand before no gate. Others stay as they are.
 */
export function bindTaskGates(dag: Dag, { gates, pipelines }: TaskSettings, project?: ProjectGates): GatedDag {
  const moves = dag.blocks.filter(movesTask)
  const [first] = moves
  if (first === undefined) return { ok: true, dag }
  const pipeline = Object.values(pipelines).find((candidate) => candidate.dag === dag.name)
  if (pipeline === undefined) return { ok: false, issues: [noPipeline(dag, first, pipelines)] }
  const issues = [...moves.flatMap(onceIssues), ...reviewIssues(dag)]
  if (issues.length > 0) return { ok: false, issues }
  const used = pipeline.gates.flatMap((name) => gates.filter((gate) => gate.name === name))
  const wrong = used.flatMap((gate) => moduleIssues(gate, project))
  if (wrong.length > 0) return { ok: false, issues: wrong }
  return { ok: true, dag: { ...dag, task_gates: used.map((gate) => bound(gate, project)) } }
}

/** What a module of the project, as it is now, says of a gate of the settings: they were read without it. */
function moduleIssues({ name, check }: TaskGateSettings, project: ProjectGates | undefined): readonly TaskIssue[] {
  if (moduleChecksIn(check).length === 0) return []
  const parsed = parseCheck(check, gateKinds(project))
  if (parsed.ok) return []
  return parsed.errors.map(({ path, message, hint }) => ({
    code: 'bad_task_gate',
    path: ['gates', name, 'check', path].filter((part) => part !== '').join('.'),
    message: `Task gate ${quoted(name)} of sluice.yaml: ${message}`,
    ...(hint === undefined ? {} : { hint }),
  }))
}

/** The same without a run: what a start would refuse. */
export function dagTaskIssues(dag: Dag, settings: TaskSettings, project?: ProjectGates): readonly TaskIssue[] {
  const bound = bindTaskGates(dag, settings, project)
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

/** Settings were checked when they were read, so the check parses; one that did not would hold nothing. */
function bound(
  { name, on: { from, to }, check, error }: TaskGateSettings,
  project: ProjectGates | undefined,
): TaskGate {
  const parsed = parseCheck(check, gateKinds(project))
  const use = parsed.ok ? parsed.check : { ...check, type: String(check.type) }
  const sides = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }
  return { name, ...sides, check: use, error, on_fail: 'fail' }
}

/** What is wrong with how a document moves its task. */
type TaskIssue = {
  readonly code: string
  readonly path: string
  readonly message: string
  readonly hint?: string
}

/**
 * The contract REVIEW -> DONE: a block that moves the task to DONE stands behind a reviewer's approval, which is an ai
 * block of role reviewer whose own gates must hold, or a person's. Only blocks that have to succeed count: conditions
 * over outcomes (`depends`) may let a block run after a review that failed, and skipped ones approve nothing.
 */
function reviewIssues(dag: Dag): readonly TaskIssue[] {
  const byId = new Map(dag.blocks.map((block) => [block.id, block]))
  return dag.blocks.filter(endsTask).flatMap((block) => {
    if (block.approval !== undefined || behind(block, byId).some(approves)) return []
    const message = `Block "${block.id}" moves the task to DONE, but no reviewer approves before it. Let it wait for an ai block with agent.role reviewer and a post-gate that refuses, or give it an approval.`
    return [{ code: 'no_review', path: `blocks[${block.index}]`, message }]
  })
}

function endsTask(block: Block): boolean {
  return block.mode === 'deterministic' && block.handler === 'move-task' && block.config.to === 'DONE'
}

/** Blocks that have succeeded whenever this one runs. */
function behind(block: Block, byId: ReadonlyMap<string, Block>): readonly Block[] {
  const seen = new Set<Block>()
  const open = [block]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.depends !== undefined) continue
    for (const id of next.upstream) {
      const before = byId.get(id)
      if (before === undefined || seen.has(before)) continue
      seen.add(before)
      open.push(before)
    }
  }
  return [...seen]
}

function approves(block: Block): boolean {
  if (block.approval !== undefined) return true
  if (block.mode !== 'ai' || block.agent.route?.role !== 'reviewer') return false
  return block.gate_composition.post === 'all' && block.post_gates.some(({ on_fail }) => on_fail !== 'warn')
}

/** What is wrong between gates, gate types and pipelines of settings whose shape is right; paths as in the file. */
export function taskSettingsIssues({ gates, pipelines }: TaskSettings, project?: ProjectGates): readonly Issue[] {
  const names = gates.map(({ name }) => name)
  const own = gates.flatMap(({ name, check }, at) => {
    const twice = names.indexOf(name) < at
    const told = twice ? [{ path: `gates.${at}.name`, message: `Two gates have the name ${quoted(name)}` }] : []
    return [...told, ...checkIssues(check, `gates.${at}.check`, project)]
  })
  return [...own, ...pipelineIssues(pipelines, names)]
}

/** A check by modules is looked at with the project alone: where settings are read first, it is not at hand. */
function checkIssues(
  check: TaskGateSettings['check'],
  path: string,
  project: ProjectGates | undefined,
): readonly Issue[] {
  if (project === undefined && moduleChecksIn(check).length > 0) return []
  const parsed = parseCheck(check, gateKinds(project))
  if (!parsed.ok) {
    return parsed.errors.map(({ path: inner, message, hint }) => ({
      path: inner === '' ? path : `${path}.${inner}`,
      message,
      ...(hint === undefined ? {} : { hint }),
    }))
  }
  const { type } = parsed.check
  const reads = portsRead(parsed.check)
  const allowed = `a task has ${listed(TASK_PORTS)}`
  if (reads.length === 0 && !leafChecks(parsed.check).some((leaf) => isModulePath(leaf.type)))
    return [{ path, message: `Gate type "${type}" reads nothing of a task; ${allowed}` }]
  const known: readonly string[] = TASK_PORTS
  return reads
    .filter((port) => !known.includes(port))
    .map((port) => {
      const hint = didYouMean(suggest(port, known))
      return { path, message: `No port ${quoted(port)}; ${allowed}`, ...(hint === undefined ? {} : { hint }) }
    })
}

function pipelineIssues(pipelines: TaskSettings['pipelines'], names: readonly string[]): readonly Issue[] {
  const dags = Object.values(pipelines).map(({ dag }) => dag)
  return Object.entries(pipelines).flatMap(([name, { dag, gates }], at) => {
    const path = `pipelines.${name}`
    const taken = dags.indexOf(dag) < at
    const second = taken ? [{ path: `${path}.dag`, message: `DAG ${quoted(dag)} has a pipeline already` }] : []
    const wrong = gates.flatMap((gate, position) => {
      const place = `${path}.gates.${position}`
      if (gates.indexOf(gate) < position) return [{ path: place, message: `Gate ${quoted(gate)} is named twice` }]
      if (names.includes(gate)) return []
      const hint = didYouMean(suggest(gate, names))
      const message = `No gate ${quoted(gate)}; configured are ${listed(names)}`
      return [{ path: place, message, ...(hint === undefined ? {} : { hint }) }]
    })
    return [...second, ...wrong]
  })
}

export type ConfiguredGate = TaskGateSettings & {
  /** Names of the pipelines that use it. */
  readonly pipelines: string[]
}

/** The gates of tasks as GET /api/gates and `sluice gates list` show them. */
export function configuredGates({ gates, pipelines }: TaskSettings): readonly ConfiguredGate[] {
  const uses = Object.entries(pipelines)
  return gates.map((gate) => ({
    ...gate,
    pipelines: uses.flatMap(([name, pipeline]) => (pipeline.gates.includes(gate.name) ? [name] : [])),
  }))
}
