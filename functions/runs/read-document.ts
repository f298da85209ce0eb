import type { StartRunBody } from '../../shared/api/start-run.ts'
import { documentChange } from '../../shared/approvals/find-changes.ts'
import { Fault } from '../../shared/errors.ts'
import type { Meta } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { type BoundDocument, bindDocument } from './bind-document.ts'
import { unknownDocument } from './unknown-document.ts'

/** The document a start request gives or names, bound to this place. */
export async function readDocument(
  world: Pick<World, 'documents' | 'providers' | 'settings'>,
  body: StartRunBody,
): Promise<BoundDocument> {
  const { text, name } = await source(world, body)
  return bindDocument(world, text, name)
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

/** Whether a document is a deployed one, and how one that came with the request differs from that of its name, if it can be read. */
export async function comparedDocument(
  world: Pick<World, 'documents' | 'providers' | 'settings'>,
  { dag: given, example }: StartRunBody,
  bound: BoundDocument,
): Promise<Pick<Meta, 'edited'> & { readonly is_deployed: boolean }> {
  const { name } = bound.dag
  if (given === undefined) return { is_deployed: example === undefined }
  if (!world.documents.names('deployed').includes(name)) return { is_deployed: false }
  const text = await world.documents.read(name, 'deployed')
  const deployed = text === undefined ? undefined : boundOrNothing(world, text, name)
  const edited = deployed === undefined ? undefined : documentChange(bound, { ...deployed, of: 'deployed' })
  return { is_deployed: deployed?.dag_hash === bound.dag_hash, ...(edited === undefined ? {} : { edited }) }
}

/** A deployed document that is no good is nothing to compare with. */
function boundOrNothing(
  world: Pick<World, 'providers' | 'settings'>,
  text: string,
  name: string,
): BoundDocument | undefined {
  try {
    return bindDocument(world, text, name)
  } catch (error) {
    if (error instanceof Fault) return undefined
    throw error
  }
}
