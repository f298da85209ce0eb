import type { StartRunBody } from '../../shared/api/start-run-route.ts'
import { documentChange, undeployedDocument } from '../../shared/approvals/find-run-changes.ts'
import type { Dag } from '../../shared/dag/dag.ts'
import { bindAgents } from '../../shared/document/bind-agents.ts'
import { parseDagInIsolate, stepsNamed } from '../../shared/document/parse.ts'
import { bindTaskGates } from '../../shared/document/task-gates.ts'
import { Fault, type Issue } from '../../shared/errors.ts'
import { scriptsOf } from '../../shared/gates/project-gates.ts'
import { isolateFor } from '../../shared/ports/isolate.ts'
import type { Meta } from '../../shared/runs/run-store.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import type { KnownSteps } from '../../shared/steps/described-step.ts'
import { unknownDocument } from '../../shared/text/wording.ts'
import type { World } from '../../shared/world.ts'

/** The document a start request gives or names, bound to this place. */
export async function readDocument(
  world: DocumentWorld & Pick<World, 'documents'>,
  tenant: string,
  body: StartRunBody,
): Promise<BoundDocument> {
  const { text, name } = await source(world, body)
  return bindDocument(world, tenant, text, name)
}

async function source(world: Pick<World, 'documents'>, { example, name, dag }: StartRunBody) {
  if (dag !== undefined) return { text: dag, name }
  const from = example === undefined ? 'deployed' : 'example'
  const wanted = example ?? name ?? ''
  const text = await world.documents.read(wanted, from)
  if (text !== undefined) return { text, name: wanted }
  const what = from === 'example' ? 'example' : 'DAG'
  throw unknownDocument(wanted, world.documents.names(from), `Cannot start: there is no ${what} "${wanted}".`)
}

/** Whether a document is a deployed one, and how one that came with the request differs from that of its name. */
export async function compareWithDeployed(
  world: DocumentWorld & Pick<World, 'documents'>,
  tenant: string,
  { dag: given, example }: StartRunBody,
  bound: BoundDocument,
): Promise<Pick<Meta, 'edited'> & { readonly is_deployed: boolean }> {
  if (given === undefined) return { is_deployed: example === undefined }
  const deployed = await deployedDocument(world, tenant, bound.dag.name)
  if (deployed === undefined) return { is_deployed: false, edited: undeployedDocument(bound) }
  const edited = documentChange(bound, { ...deployed, of: 'deployed' })
  return { is_deployed: deployed.dag_hash === bound.dag_hash, ...(edited === undefined ? {} : { edited }) }
}

/** The deployed document of a name, if there is one that is any good. */
export async function deployedDocument(
  world: DocumentWorld & Pick<World, 'documents'>,
  tenant: string,
  name: string,
): Promise<BoundDocument | undefined> {
  if (!world.documents.names('deployed').includes(name)) return undefined
  const text = await world.documents.read(name, 'deployed')
  return text === undefined ? undefined : boundOrNothing(world, tenant, text, name)
}

/** A deployed document that is no good is nothing to compare with. */
async function boundOrNothing(
  world: DocumentWorld,
  tenant: string,
  text: string,
  name: string,
): Promise<BoundDocument | undefined> {
  try {
    return await bindDocument(world, tenant, text, name)
  } catch (error) {
    if (error instanceof Fault && error.name !== 'Unavailable') return undefined
    throw error
  }
}

type DocumentText = NonNullable<StartRunBody['dag']>

/** What checking a document needs. */
export type DocumentWorld = Pick<World, 'providers' | 'settings' | 'isolate' | 'steps' | 'modules'>

export interface BoundDocument {
  readonly dag: Dag
  readonly dag_hash: string
  /** The scripts of its gates that are modules of the project, by their hash. */
  readonly scripts: ReadonlyMap<string, string>
}

/**
 * A document as text, parsed, checked and bound to the agents and task gates of this place; `dag_hash` is of the document
 * as written. InvalidInput invalid_dag lists every error with its place. What is dear is done in the isolate, in the turn
 * of the tenant that asks.
 */
export async function bindDocument(
  world: DocumentWorld,
  tenant: string,
  text: DocumentText,
  name: string | undefined,
): Promise<BoundDocument> {
  const known = knownDocuments(world)
  const key = `${world.providers.names().join()}\n${name ?? ''}\n${typeof text === 'string' ? text : JSON.stringify(text)}`
  const there = known.get(key)
  if (there !== undefined) return there
  const bound = await judgeDocument(world, tenant, text, name)
  const { stands_alone, ...document } = bound
  if (stands_alone && key.length <= MOST_CHARACTERS) {
    const [oldest] = known.keys()
    if (known.size >= MOST_KNOWN && oldest !== undefined) known.delete(oldest)
    known.set(key, document)
  }
  return document
}

const MOST_KNOWN = 50
const MOST_CHARACTERS = 100_000

const knownBy = new WeakMap<object, Map<string, BoundDocument>>()

/** Documents judged before under the same settings: to start a run again costs no second look at its document. */
function knownDocuments({ settings }: DocumentWorld): Map<string, BoundDocument> {
  const known = knownBy.get(settings) ?? new Map<string, BoundDocument>()
  knownBy.set(settings, known)
  return known
}

/** `stands_alone`: it names no step and no gate of the project, whose code may be another the next time. */
async function judgeDocument(
  { providers, settings: routing, isolate, steps: project, modules }: DocumentWorld,
  tenant: string,
  text: DocumentText,
  name: string | undefined,
): Promise<BoundDocument & { readonly stands_alone: boolean }> {
  const named = name === undefined ? {} : { name }
  const steps = await stepsOf(project, text)
  const place = { ...named, providers: providers.names(), routing, steps, modules }
  const parsed = await parseDagInIsolate(text, place, isolateFor(isolate, { tenant }))
  if (!parsed.ok)
    throw invalidDag(
      name,
      parsed.errors.map((error) => ({ ...error })),
    )
  const bound = bindAgents(parsed.dag, routing, steps)
  const gated = bound.ok ? bindTaskGates(bound.dag, routing, parsed.project) : bound
  if (!gated.ok) throw invalidDag(name, gated.issues)
  requireAddress(gated.dag, routing)
  const scripts = parsed.project === undefined ? new Map<string, string>() : scriptsOf(parsed.project)
  const stands_alone = Object.keys(steps).length + scripts.size === 0
  return { dag: gated.dag, dag_hash: parsed.dag_hash, scripts, stands_alone }
}

/** What the place knows of the steps a document names; of most documents nothing is asked. */
export async function stepsOf(project: World['steps'], text: string | object): Promise<KnownSteps> {
  const names = stepsNamed(text)
  return names.length === 0 ? {} : project.describe(names)
}

/** On AWS nobody but the settings knows where others reach the API; a local place listens somewhere. */
function requireAddress({ name, blocks }: Dag, { public_url, body_days }: Settings): void {
  if (public_url !== undefined || body_days === undefined) return
  const waiting = blocks.find((block) => block.mode === 'wait' && block.wait.kind === 'callback')
  if (waiting === undefined) return
  const message = `Cannot start DAG "${name}": block "${waiting.id}" waits for a callback, and nobody has said where others reach this place. Set public_url in sluice.yaml and deploy.`
  throw new Fault('InvalidInput', 'no_public_address', message)
}

function invalidDag(name: string | undefined, errors: readonly Issue[]): Fault {
  const many = errors.length === 1 ? 'an error' : `${errors.length} errors`
  const message = `Cannot start: the DAG${name === undefined ? '' : ` "${name}"`} has ${many}, listed with ${errors.length === 1 ? 'its place' : 'their places'}.`
  return new Fault('InvalidInput', 'invalid_dag', message, {
    issues: errors.slice(0, 20),
  })
}
