import { isActing } from '../../shared/agents/agent-items.ts'
import { asksPeople } from '../../shared/approvals/governed-blocks.ts'
import type { Block, Dag } from '../../shared/dag/dag.ts'
import { blocksBefore } from '../../shared/dag/order.ts'
import { Fault } from '../../shared/errors.ts'
import type { ChildDocument, Meta } from '../../shared/runs/run-store.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { canonicalJson, type Json } from '../../shared/text/json.ts'
import type { World } from '../../shared/world.ts'
import { type DocumentWorld, readDocument } from './documents.ts'

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

type ReadingWorld = DocumentWorld & Pick<World, 'documents'>

/** Who reads, and for whom. */
interface Reader {
  readonly world: ReadingWorld
  readonly tenant: string
}

type Found = Map<string, ChildDocument | undefined>

async function documentsBelow(reader: Reader, dag: Dag, found: Found, above: readonly string[]) {
  const children: Record<string, ChildDocument> = {}
  for (const name of dag.blocks.flatMap(documentsNamed)) {
    const child = await documentOf(reader, name, found, above)
    if (child !== undefined) children[name] = child
  }
  return children
}

/** What a block runs as a child, or its agent may. */
function documentsNamed(block: Block): readonly string[] {
  if (block.mode === 'dag') return [block.dag.name]
  const tools = isActing(block) ? block.agent.acting.tools : []
  return tools.flatMap(({ kind, use }) => (kind === 'dag' ? [use.slice('dag.'.length)] : []))
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
