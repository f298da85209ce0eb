import { GRAPH_ROUTES } from '../../../shared/api/graph-routes.ts'
import type { Entity } from '../../../shared/graph/entity.ts'
import { WRITE_BATCH } from '../../../shared/graph/graph-store.ts'
import { callApi, type Target } from '../server/api.ts'
import { Refused } from '../terminal/refused.ts'
import { documentFolder, type FolderPlan, idOf, type Listing, planFolder } from './document-folder.ts'
import { type Imported, type ImportHow, importItems } from './import-graph.ts'

interface FolderHow extends Pick<ImportHow, 'signal' | 'mostBytes' | 'progress'> {
  /** The fourth segment of the ids; default: the folder's name. */
  readonly collection?: string
  /** Entities of files that are not there any more are deleted. */
  readonly remove: boolean
  /** What did not change is sent too. */
  readonly all: boolean
}

/** What became of a folder. */
export interface ImportedFolder extends Imported {
  readonly collection: string
  /** Files the graph has as they are: nothing was sent. */
  readonly same: number
  /** Paths of files that are not there any more, and whether their entities were deleted. */
  readonly gone: readonly string[]
  readonly removed: boolean
  /** Files of other endings. */
  readonly skipped: number
}

/**
 * Puts the documents of a folder into the graph: each file an entity with its text as body. What the graph has is noted there, so
 * that from wherever it is imported again only what changed is sent.
 */
export async function importFolder(target: Target, folder: string, how: FolderHow): Promise<ImportedFolder> {
  const found = documentFolder(folder, how.collection)
  const before = await readListing(target, found.collection)
  const plan = planFolder(found, before, how.all)
  const after = new Map(before)
  const imported = await importItems(target, plan.reads(), { ...how, taken: (line) => note(after, plan.fileOf(line)) })
  const ended = imported.stopped === undefined
  const removed = ended && how.remove && plan.gone.length > 0
  if (removed) await removeGone(target, plan.gone, after)
  if (ended && (removed || [...after].some(([path, mark]) => before.get(path) !== mark))) {
    await writeListing(target, found.collection, after)
  }
  const gone = plan.gone.map(({ path }) => path)
  const { collection, others: skipped } = found
  return { ...imported, collection, same: plan.unchanged, gone, removed, skipped }
}

function note(listing: Map<string, string>, file: ReturnType<FolderPlan['fileOf']>): void {
  if (file !== undefined) listing.set(file.path, file.mark)
}

async function removeGone(target: Target, gone: FolderPlan['gone'], listing: Map<string, string>): Promise<void> {
  for (let at = 0; at < gone.length; at += WRITE_BATCH) {
    await deleteEntities(
      target,
      gone.slice(at, at + WRITE_BATCH).map(({ entity_id }) => entity_id),
    )
  }
  for (const { path } of gone) listing.delete(path)
}

async function deleteEntities(target: Target, entity_ids: string[]): Promise<void> {
  const answer = GRAPH_ROUTES['delete-entities'].answer.loose()
  const { results } = await callApi(target, answer, (api) =>
    api.DELETE('/api/graph/entities', { body: { entity_ids } }),
  )
  refuseFailed(results)
}

async function writeListing(target: Target, collection: string, listing: Listing): Promise<void> {
  const { entities, beyond } = listingEntities(collection, listing)
  const answer = GRAPH_ROUTES['put-entities'].answer.loose()
  // As stores keep them, which is what the schema of the route takes.
  for (const entity of entities) {
    const { results } = await callApi(target, answer, (api) =>
      api.PUT('/api/graph/entities', { body: { entities: [entity] as never } }),
    )
    refuseFailed(results)
  }
  await deleteEntities(target, [beyond])
}

function refuseFailed(results: (typeof GRAPH_ROUTES)['put-entities']['answer']['_output']['results']): void {
  const failed = results.find(({ ok }) => !ok)?.error
  if (failed !== undefined) throw new Refused({ code: failed.code, detail: failed.message })
}

/** Of one statement, and of the statements of one entity as JSON with what stands around them: an entity has 200 KB. */
const MOST_CHARACTERS = 3_900
const MOST_BYTES = 180_000
const AROUND_STATEMENT = 400

const LISTED = 'files.listing'

/**
 * What the graph has of a collection, as its import noted it: entities of type `file-list`, which are in no index, and whose
 * statements are opaque, so that no condition reads them.
 */
async function readListing(target: Target, collection: string): Promise<Listing> {
  const listing = new Map<string, string>()
  for (let part = 0; ; part += 1) {
    const entity = await entityOfGraph(target, idOf(collection, 'file-list', `part-${part}`))
    if (entity === undefined) return listing
    for (const { object } of entity.triples ?? []) {
      for (const [path, mark] of Object.entries(pairsOf(String(object)))) listing.set(path, String(mark))
    }
  }
}

/** What somebody else wrote there lists nothing: those files are sent again. */
function pairsOf(text: string): object {
  try {
    const pairs: unknown = JSON.parse(text)
    return typeof pairs === 'object' && pairs !== null ? pairs : {}
  } catch {
    return {}
  }
}

async function entityOfGraph(target: Target, entity_id: string): Promise<Entity | undefined> {
  const answer = GRAPH_ROUTES['get-entity'].answer.loose()
  const params = { path: { entity_id } }
  try {
    return (await callApi(target, answer, (api) => api.GET('/api/graph/entities/{entity_id}', { params }))).entity
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return undefined
    throw error
  }
}

/** The entities that say what the graph has now, and ids of parts that are too many. */
function listingEntities(
  collection: string,
  listing: Listing,
): { readonly entities: readonly Entity[]; readonly beyond: string } {
  const texts: string[] = []
  let open: Record<string, string> = {}
  let size = 0
  for (const [path, mark] of [...listing].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const length = JSON.stringify({ [path]: mark }).length
    if (size + length > MOST_CHARACTERS) {
      texts.push(JSON.stringify(open))
      open = {}
      size = 0
    }
    open[path] = mark
    size += length
  }
  if (size > 0) texts.push(JSON.stringify(open))
  const parts = inParts(texts)
  const timestamp = '1970-01-01T00:00:00Z'
  const entities = parts.map((objects, at): Entity => {
    const entity_id = idOf(collection, 'file-list', `part-${at}`)
    const said = { subject: entity_id, predicate: LISTED, source: 'sluice graph import', timestamp, confidence: 1 }
    return {
      entity_id,
      label: `Files of ${collection}`,
      triples: objects.map((object) => ({ ...said, object, rule_opaque: true })),
    }
  })
  return { entities, beyond: idOf(collection, 'file-list', `part-${parts.length}`) }
}

function inParts(texts: readonly string[]): readonly (readonly string[])[] {
  const parts: string[][] = []
  let bytes = MOST_BYTES
  for (const text of texts) {
    const takes = Buffer.byteLength(JSON.stringify(text)) + AROUND_STATEMENT
    bytes += takes
    if (bytes > MOST_BYTES) {
      parts.push([])
      bytes = takes
    }
    parts.at(-1)?.push(text)
  }
  return parts
}
