import type { StartRunBody } from '../../shared/api/start-run.ts'
import { documentChange, undeployed } from '../../shared/approvals/find-changes.ts'
import { Fault } from '../../shared/errors.ts'
import type { Meta } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { type BoundDocument, bindDocument, type DocumentWorld } from './bind-document.ts'
import { unknownDocument } from './unknown-document.ts'

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
export async function comparedDocument(
  world: DocumentWorld & Pick<World, 'documents'>,
  tenant: string,
  { dag: given, example }: StartRunBody,
  bound: BoundDocument,
): Promise<Pick<Meta, 'edited'> & { readonly is_deployed: boolean }> {
  if (given === undefined) return { is_deployed: example === undefined }
  const deployed = await deployedDocument(world, tenant, bound.dag.name)
  if (deployed === undefined) return { is_deployed: false, edited: undeployed(bound) }
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
