import type { StartRunBody } from '../../shared/api/start-run.ts'
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
