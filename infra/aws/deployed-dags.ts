import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { compileDag } from '../../shared/compile/compile-dag.ts'
import { researchMachine } from '../../shared/compile/research-machine.ts'
import type { Dag } from '../../shared/dag/dag.ts'
import { bindAgents, type Routing } from '../../shared/document/bind-agents.ts'
import { parseDag } from '../../shared/document/parse.ts'
import { dagTaskIssues, type TaskSettings } from '../../shared/document/task-gates.ts'
import { Fault } from '../../shared/errors.ts'
import type { ProjectGates } from '../../shared/gates/project-gates.ts'
import type { MachineText } from '../../shared/runs/machine.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import type { KnownSteps } from '../../shared/steps/described-step.ts'
import type { DagError } from '../../shared/text/document-problems.ts'
import { listed } from '../../shared/text/wording.ts'
import { readYaml } from '../../shared/text/yaml.ts'
import { strangeTriggers, triggerLoops } from '../../shared/triggers/run-loops.ts'
import type { Trigger } from '../../shared/triggers/trigger.ts'
import { askGates } from '../modules/ask-gates.ts'
import { machineSlug } from './names.ts'

/** A document of dags/ as it is deployed: a machine of its own, and its text inside start-run's bundle. */
export interface DeployedDag {
  /** What a run is started by: the file's name without its ending. */
  readonly name: string
  /** As the document calls itself, and its runs. */
  readonly dag_name: string
  readonly file: string
  readonly slug: string
  readonly document: string
  readonly dag_hash: string
  /** Machine text with placeholders, exactly as compileDag wrote it. */
  readonly definition: string
  /** Machines it starts, where it is too large for one. */
  readonly parts: readonly MachineText[]
  /** What starts runs of it by itself. */
  readonly triggers: readonly Trigger[]
}

/** As much of it as its machine is made of. */
export type MachineDag = Pick<DeployedDag, 'slug' | 'dag_hash' | 'definition' | 'parts'>

/**
 * Reads, checks and compiles every `*.yaml` of a folder. Fault InvalidInput says everything that is wrong, each with
 * file, place and fix: invalid_dag, bad_dag_name, dag_name_clash, dag_too_large. Providers and agents are those
 * of the stage: a document that asks for another one would be refused at its first run. So it is with gates of the project.
 */
export function readDeployedDags(
  dir: string,
  cwd: string,
  place: StageProviders = NOTHING,
  steps: KnownSteps = {},
  project?: ProjectGates,
): readonly DeployedDag[] {
  const dags = documentsIn(dir).map((path) =>
    readDag(path, relative(cwd, path), place, { steps, ...(project && { project }) }),
  )
  refuseClashes(dags)
  return dags
}

/**
 * The settings of a stage, in which its functions find of which runs the ends are told to triggers. Fault InvalidInput
 * trigger_loop, trigger_of_unknown_dag.
 */
export function withToldEnds(settings: Settings, dags: readonly DeployedDag[]): Settings {
  requireSoundTriggers(dags)
  const waited = dags.flatMap(({ triggers }) => triggers.flatMap((one) => (one.kind === 'run' ? [one.run.dag] : [])))
  if (waited.length === 0) return settings
  // Runs are called as their documents call themselves.
  return { ...settings, told_ends: dags.filter(({ name }) => waited.includes(name)).map(({ dag_name }) => dag_name) }
}

function requireSoundTriggers(dags: readonly DeployedDag[]): void {
  const [loop] = triggerLoops(dags)
  const [strange] = strangeTriggers(dags)
  if (loop !== undefined) {
    const message = `Cannot deploy DAG "${loop.document}": triggers[${loop.index}].run.dag ${loop.text}. Take one of these triggers away.`
    throw new Fault('InvalidInput', 'trigger_loop', message)
  }
  if (strange === undefined) return
  const { document, name, run } = strange
  const there = `The documents are ${listed(dags.map((one) => one.name))}.`
  const message = `Cannot deploy DAG "${document}": its trigger "${name}" waits for runs of "${run.dag}", and no document of that name is deployed. ${there}`
  throw new Fault('InvalidInput', 'trigger_of_unknown_dag', message)
}

function documentsIn(dir: string): readonly string[] {
  const files = readdirSync(dir).filter((file) => /\.ya?ml$/.test(file))
  return files.sort().map((file) => join(dir, file))
}

/** The gates of the project in `root` that the documents of these folders, or gates of tasks, name: as they are now. */
export async function projectGatesOf(
  root: string,
  folders: readonly string[],
  task_gates: readonly unknown[],
): Promise<ProjectGates> {
  const written = folders.flatMap(documentsIn).map((file) => readYaml(readFileSync(file, 'utf8')).source.value)
  return askGates(root, [...written, task_gates])
}

/** What functions that check documents carry. */
export function gateScripts({ modules }: ProjectGates): Readonly<Record<string, { text: string; hash: string }>> {
  const found = [...modules].flatMap(([path, module]) => {
    return module.ok ? [[path, { text: module.text, hash: module.hash }] as const] : []
  })
  return Object.fromEntries(found)
}

/** Code of the project that documents name, as it is now. */
interface ProjectCode {
  readonly steps?: KnownSteps
  readonly project?: ProjectGates
}

/** Provider `local` is in every place. */
const NOTHING: StageProviders = { providers: {}, agents: {}, gates: [], pipelines: {} }

/** What the stage's settings say of agents and of tasks. */
type StageProviders = Routing & TaskSettings

function readDag(path: string, file: string, place: StageProviders, code: ProjectCode): DeployedDag {
  const name = file.replace(/^.*[\\/]/, '').replace(/\.ya?ml$/, '')
  const document = readFileSync(path, 'utf8')
  const parsed = parseDag(document, { name, providers: Object.keys(place.providers), routing: place, ...code })
  const errors: readonly DagError[] = parsed.ok ? dagTaskIssues(parsed.dag, place, code.project) : parsed.errors
  if (!parsed.ok || errors.length > 0) {
    const lines = errors.map(({ line, column, message }) =>
      line === undefined ? `${file}: ${message}` : `${file}:${line}:${column}: ${message}`,
    )
    const more = lines.length > SHOWN_ERRORS ? [`and ${lines.length - SHOWN_ERRORS} more`] : []
    const told = [...lines.slice(0, SHOWN_ERRORS), ...more].join('\n')
    throw new Fault('InvalidInput', 'invalid_dag', `Cannot deploy DAG "${name}".\n${told}`)
  }
  requireAddress(parsed.dag, file, place)
  // Its runs are pinned to the document with what runs it: a step that may run once asks before it runs again.
  const bound = bindAgents(parsed.dag, place, code.steps)
  const { text: definition, parts } = compileDag(bound.ok ? bound.dag : parsed.dag)
  return {
    name,
    dag_name: parsed.dag.name,
    file,
    slug: readSlug(parsed.dag.name, file),
    document,
    dag_hash: parsed.dag_hash,
    definition,
    parts,
    triggers: parsed.triggers,
  }
}

const SHOWN_ERRORS = 20

/** What others are to call has to have an address they reach. */
function requireAddress({ name, blocks }: Dag, file: string, { public_url }: StageProviders): void {
  const waiting = blocks.find((block) => block.mode === 'wait' && block.wait.kind === 'callback')
  if (waiting === undefined || public_url !== undefined) return
  const message = `Cannot deploy DAG "${name}" (${file}): block "${waiting.id}" waits for a callback, and the settings do not say where others reach the API. Set public_url in sluice.yaml: what \`sluice deploy\` prints as Url, or the domain in front of it.`
  throw new Fault('InvalidInput', 'no_public_address', message)
}

function readSlug(dagName: string, file: string): string {
  const slug = machineSlug(dagName)
  if (slug !== '' && !slug.startsWith('x-') && slug !== RESEARCH_SLUG) return slug
  const why =
    slug === ''
      ? 'it has no letter a-z and no digit'
      : 'names that begin with "x-" are those of inline machines, "research" is that of the research chain'
  const message = `Cannot deploy ${file}: name ${JSON.stringify(dagName)} makes no machine name (${why}). Set another "name:" at the top of the file.`
  throw new Fault('InvalidInput', 'bad_dag_name', message)
}

function refuseClashes(dags: readonly DeployedDag[]): void {
  for (const [i, { name, file, slug }] of dags.entries()) {
    const other = dags.slice(0, i).find((earlier) => earlier.slug === slug || earlier.name === name)
    if (other === undefined) continue
    const message = `Cannot deploy ${other.file} and ${file} together: both would be machine "${slug}". Give one another "name:" at its top, or another file name.`
    throw new Fault('InvalidInput', 'dag_name_clash', message)
  }
}

/** The machine of the research chain, deployed as that of a document: `sluice-<stage>-research`. */
export function deployedResearch(): MachineDag {
  const { text, hash } = researchMachine()
  return { slug: RESEARCH_SLUG, dag_hash: hash, definition: text, parts: [] }
}

/** No document may have it. */
const RESEARCH_SLUG = 'research'
