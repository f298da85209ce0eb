import type { StartRunBody } from '../../shared/api/start-run-route.ts'
import { documentChange, undeployedDocument } from '../../shared/approvals/find-run-changes.ts'
import { asksPeople } from '../../shared/approvals/governed-blocks.ts'
import type { Block, Dag } from '../../shared/dag/dag.ts'
import { blocksBefore } from '../../shared/dag/order.ts'
import { bindAgents } from '../../shared/document/bind-agents.ts'
import { parseDagInIsolate } from '../../shared/document/parse.ts'
import { bindTaskGates } from '../../shared/document/task-gates.ts'
import { Fault, type Issue } from '../../shared/errors.ts'
import { isolateFor } from '../../shared/ports/isolate.ts'
import type { ChildDocument, Meta } from '../../shared/runs/run-store.ts'
import { canonicalJson } from '../../shared/text/canonical-json.ts'
import { sha256 } from '../../shared/text/hash.ts'
import type { Json } from '../../shared/text/json.ts'
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
export type DocumentWorld = Pick<World, 'providers' | 'settings' | 'isolate'>

export interface BoundDocument {
  readonly dag: Dag
  readonly dag_hash: string
}

/**
 * A document as text, parsed, checked and bound to the agents and task gates of this place; `dag_hash` is of the document
 * as written. InvalidInput invalid_dag lists every error with its place. What is dear is done in the isolate, in the turn
 * of the tenant that asks.
 */
export async function bindDocument(
  { providers, settings: routing, isolate }: DocumentWorld,
  tenant: string,
  text: DocumentText,
  name: string | undefined,
): Promise<BoundDocument> {
  const named = name === undefined ? {} : { name }
  const place = { ...named, providers: providers.names(), routing }
  const parsed = await parseDagInIsolate(text, place, isolateFor(isolate, { tenant }))
  if (!parsed.ok)
    throw invalidDag(
      name,
      parsed.errors.map((error) => ({ ...error })),
    )
  const bound = bindAgents(parsed.dag, routing)
  const gated = bound.ok ? bindTaskGates(bound.dag, routing) : bound
  if (!gated.ok) throw invalidDag(name, gated.issues)
  return { dag: gated.dag, dag_hash: parsed.dag_hash }
}

function invalidDag(name: string | undefined, errors: readonly Issue[]): Fault {
  const many = errors.length === 1 ? 'an error' : `${errors.length} errors`
  const message = `Cannot start: the DAG${name === undefined ? '' : ` "${name}"`} has ${many}, listed with ${errors.length === 1 ? 'its place' : 'their places'}.`
  return new Fault('InvalidInput', 'invalid_dag', message, {
    issues: errors.slice(0, 20),
  })
}

type ReadingWorld = DocumentWorld & Pick<World, 'documents'>

/** Who reads, and for whom. */
interface Reader {
  readonly world: ReadingWorld
  readonly tenant: string
}

/**
 * What the documents of the child runs of this one are as it starts, for META: a question binds them, so that what they
 * let happen is what whoever decided could know. A document that is not there, or no good, is left out: its block fails.
 */
export async function childDocuments(world: ReadingWorld, tenant: string, dag: Dag): Promise<Pick<Meta, 'children'>> {
  const children = await documentsBelow({ world, tenant }, dag, new Map(), [dag.name])
  return Object.keys(children).length === 0 ? {} : { children }
}

/** The same of one name, as it is now. */
export async function childDocument(
  world: ReadingWorld,
  tenant: string,
  name: string,
): Promise<ChildDocument | undefined> {
  return documentOf({ world, tenant }, name, new Map(), [])
}

/** A deployed document; where none of this name is, the shipped example, so that examples find theirs in any folder. */
export async function childSource({ documents }: Pick<World, 'documents'>, name: string) {
  if ((await documents.read(name, 'deployed')) !== undefined) return { name }
  return (await documents.read(name, 'example')) === undefined ? { name } : { example: name }
}

type Found = Map<string, ChildDocument | undefined>

async function documentsBelow(reader: Reader, dag: Dag, found: Found, above: readonly string[]) {
  const children: Record<string, ChildDocument> = {}
  for (const block of dag.blocks) {
    if (block.mode !== 'dag') continue
    const child = await documentOf(reader, block.dag.name, found, above)
    if (child !== undefined) children[block.dag.name] = child
  }
  return children
}

/** One that stands above itself says nothing new of itself. */
async function documentOf(
  reader: Reader,
  name: string,
  found: Found,
  above: readonly string[],
): Promise<ChildDocument | undefined> {
  if (above.includes(name)) return { hash: sha256(name), asks: false, skippable: false }
  if (found.has(name)) return found.get(name)
  const dag = await readOrNothing(reader, name)
  const child =
    dag === undefined ? undefined : describe(dag, await documentsBelow(reader, dag, found, [...above, name]))
  found.set(name, child)
  return child
}

async function readOrNothing({ world, tenant }: Reader, name: string): Promise<Dag | undefined> {
  try {
    return (await readDocument(world, tenant, await childSource(world, name))).dag
  } catch (error) {
    if (error instanceof Fault && error.name !== 'Unavailable') return undefined
    throw error
  }
}

function describe(dag: Dag, children: Readonly<Record<string, ChildDocument>>): ChildDocument {
  const below = Object.fromEntries(Object.entries(children).map(([name, { hash }]) => [name, hash]))
  const asking = dag.blocks.filter((block) => asksPeople(block, children))
  const mayAsk = dag.budget?.on_exceed === 'ask' || dag.blocks.some(hasAskingGate)
  return {
    hash: sha256(canonicalJson({ dag, below } as unknown as Json)),
    asks: asking.length > 0 || mayAsk,
    skippable: asking.some((block) => isSkippable(dag, block, children)),
  }
}

function hasAskingGate({ pre_gates, post_gates, foreach }: Block): boolean {
  return [...pre_gates, ...post_gates, ...(foreach?.item_gates ?? [])].some(({ on_fail }) => on_fail === 'ask')
}

function isSkippable(dag: Dag, block: Block, children: Readonly<Record<string, ChildDocument>>): boolean {
  if (block.mode === 'dag' && children[block.dag.name]?.skippable === true) return true
  const before = blocksBefore(dag, block.id)
  const isConditional = ({ when, depends }: Block) => when !== undefined || depends !== undefined
  return isConditional(block) || dag.blocks.some((one) => before.has(one.id) && isConditional(one))
}
