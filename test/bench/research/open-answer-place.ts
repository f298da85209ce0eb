import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { openPlace, type Place } from '../../../infra/local/place.ts'
import type { ResearchAnswer } from '../../../shared/api/research-routes.ts'
import type { Entity } from '../../../shared/graph/entity.ts'
import { BATCH } from '../../../shared/graph/graph-store.ts'
import { SettingsSchema } from '../../../shared/settings/settings.ts'
import { type BenchEntity, TENANT } from './open-bench-graph.ts'

/** A local place as `sluice start` opens it, called in-process, on a folder of its own. */
export async function openAnswerPlace(folder: string, { links = true }: { readonly links?: boolean } = {}) {
  const limits = { max_requests_per_min: 100_000, max_runs: 1_000, max_body_bytes: 10_485_760 }
  const settings = SettingsSchema.parse({
    data_dir: folder,
    inputs_dir: folder,
    dags: [folder],
    safety: limits,
    graph: { links },
  })
  const place = await openPlace(settings)
  return {
    world: place.world,
    import: (entities: Iterable<BenchEntity>) => importInto(place, entities),
    /** The index has everything that was put. */
    index: () => place.world.search.search(TENANT, { text: 'nothing', limit: 1 }),
    answer: (topic: string, max_iterations?: number) =>
      answer(place, { topic, ...(max_iterations === undefined ? {} : { max_iterations }) }),
    /** The first of each closes the file; what is copied is whole. */
    async close(copy?: string) {
      await place.close()
      if (copy !== undefined) copyFileSync(join(folder, 'index.db'), copy)
    },
  }
}

/** The calls of an import, one after the other; a body is put as an object first. */
async function importInto(place: Place, entities: Iterable<BenchEntity>): Promise<void> {
  let batch: Entity[] = []
  const send = async () => {
    const { results } = (await call(place, 'put-entities', { entities: batch })) as { results: { ok: boolean }[] }
    if (!results.every(({ ok }) => ok)) throw new Error(JSON.stringify(results.find(({ ok }) => !ok)))
    batch = []
  }
  for (const { body, ...entity } of entities) {
    const ref = body === undefined ? undefined : (await place.world.objects.put(TENANT, Buffer.from(body))).ref
    batch.push({ ...entity, ...(ref && { objectstore_ref: ref }) })
    if (batch.length === BATCH) await send()
  }
  if (batch.length > 0) await send()
}

/** From the call of POST /api/research to the end of its run. */
async function answer(place: Place, asked: object): Promise<ResearchAnswer> {
  const { run_id } = (await call(place, 'start-research', asked)) as { run_id: string }
  const run = { tenant: TENANT, run_id }
  while ((await place.world.runs.head(run, []))?.state === 'running') await place.world.waker.changed(run, 50)
  return (await call(place, 'get-research', undefined, run_id)) as unknown as ResearchAnswer
}

async function call(place: Place, name: string, body?: unknown, runId?: string): Promise<object> {
  const event = {
    httpMethod: body === undefined ? 'GET' : 'POST',
    path: '/',
    pathParameters: runId === undefined ? null : { run_id: runId },
    queryStringParameters: null,
    headers: { 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
    isBase64Encoded: false,
  }
  const { statusCode, body: text } = (await place.invoke(name, event)) as { statusCode: number; body: string }
  if (statusCode >= 300) throw new Error(`${name} answered ${statusCode}: ${text.slice(0, 500)}`)
  return JSON.parse(text)
}
