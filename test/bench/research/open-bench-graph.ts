import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../../infra/local/database.ts'
import { openObjects } from '../../../infra/local/folder-objects.ts'
import { openGraphStore } from '../../../infra/local/graph-store/graph-store.ts'
import { openLocalIndex } from '../../../infra/local/search-index.ts'
import { type Entity, readEntity } from '../../../shared/graph/entity.ts'
import { BATCH } from '../../../shared/graph/graph-store.ts'

export const TENANT = 'main'

/** Its `body`, where it has one, becomes an object first. */
export type BenchEntity = Entity & { readonly body?: string | undefined }

/** The local place's graph, objects and index in a folder of their own: what the stages of a chain are given. */
export function openBenchGraph({ links = true }: { readonly links?: boolean } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  const clock = { now: () => Date.now() }
  const db = openDatabase(folder)
  const graph = openGraphStore(db, clock)
  const objects = openObjects(join(folder, 'objects'))
  const opened = openLocalIndex(folder, { graph, objects, clock, links })
  return {
    folder,
    graph,
    search: opened.index,
    refresh: () => opened.indexing.publish(TENANT, new Date(8.64e15).toISOString()),
    /** In batches, as an import sends them. */
    async put(entities: Iterable<BenchEntity>): Promise<void> {
      let batch: Entity[] = []
      for (const { body, ...entity } of entities) {
        const ref = body === undefined ? undefined : (await objects.put(TENANT, Buffer.from(body))).ref
        batch.push(normal({ ...entity, ...(ref && { objectstore_ref: ref }) }))
        if (batch.length < BATCH) continue
        await graph.put(TENANT, batch)
        batch = []
      }
      if (batch.length > 0) await graph.put(TENANT, batch)
    },
    close(): void {
      opened.close()
      db.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function normal(entity: Entity): Entity {
  const read = readEntity(entity)
  if ('entity' in read) return read.entity
  throw new Error(`Cannot make entity "${entity.entity_id}": ${JSON.stringify(read.issues)}`)
}
