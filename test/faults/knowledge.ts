import type { RunKey } from '../../shared/runs/run-store.ts'
import type { Act } from './acts.ts'
import { callRoute, type Reply } from './call-route.ts'
import type { System } from './system.ts'

interface Asker {
  readonly system: System
  readonly linked: RunKey[]
}
type OfTenant = Pick<RunKey, 'tenant'>

const NAMES = ['ore', 'tin', 'lead'] as const
const idOf = (name: string) => `acme.ops.lab.mine.metal.${name}`
const AT = '2026-11-22T08:00:00.000Z'
const TEXT = 'Ore is melted in a furnace. Tin is soft.'

/** Somebody puts entities, reads them, and takes some away again: in an order of its own, each call for itself. */
export async function know({ system }: Asker, { dice }: Act, { tenant }: OfTenant): Promise<void> {
  const call = (name: string, more: object) => callRoute(system, name, { tenant, params: {}, ...more })
  const entity_id = idOf(NAMES[Math.floor(dice[0] * NAMES.length)] ?? 'ore')
  const named = { params: { entity_id } }
  const body = await call('put-object', { body: { text: TEXT } })
  await call('put-entities', { body: { entities: NAMES.map((name) => entityOf(name, body, dice[1])) } })
  const triple = { subject: entity_id, predicate: 'metal.melts', object: dice[1], source: 'lab', timestamp: AT }
  await call('put-triples', { body: { triples: [triple] } })
  const { json: read = {} } = (await call('get-entity', named)) ?? {}
  await call('get-neighbors', named)
  const sha256 = String(body?.json.sha256 ?? '0'.repeat(64))
  await call('upload-object', { body: { sha256, size: 40 } })
  await call('get-object', { params: { sha256 } })
  await call('search-graph', { query: { q: 'furnace' } })
  const work = { tenant, keep: { after: ' ' } }
  if (dice[2] < 0.3) system.functions.send('index-graph', work, { from: 'event', who: 'index-graph(keep)', tenant })
  if (dice[2] > 0.8) await call('delete-entity', named)
  if (dice[2] > 0.9) await call('delete-entities', { body: { entity_ids: NAMES.map(idOf) } })
  checkOwn(system, tenant, read)
}

function entityOf(name: string, body: Reply | undefined, dice: number) {
  const ref = body?.json.ref
  const object = idOf(NAMES[Math.floor(dice * NAMES.length)] ?? 'tin')
  return {
    entity_id: idOf(name),
    label: name,
    ...(typeof ref === 'string' ? { objectstore_ref: ref } : {}),
    triples: [{ subject: idOf(name), predicate: 'metal.beside', object, source: 'lab', timestamp: AT }],
  }
}

/** 27: what a tenant reads it put itself. */
function checkOwn(system: System, tenant: string, read: Reply['json']): void {
  const { objectstore_ref } = (read.entity ?? {}) as { readonly objectstore_ref?: string }
  if (objectstore_ref === undefined || objectstore_ref.startsWith(`objstore://${tenant}/`)) return
  system.sim.violate(27, `${tenant} reads the entity of another: ${objectstore_ref}`)
}

/** Somebody asks the research chain, and looks for the answer now and then. */
export async function ask({ system, linked }: Asker, { id, dice }: Act, { tenant }: OfTenant): Promise<void> {
  const topic = dice[0] < 0.7 ? 'In what is ore melted?' : 'Who paints the moon?'
  const body = { topic, ...(dice[1] < 0.3 ? { parent_loop: 'somebody' } : {}) }
  const call = { tenant, params: {}, body, key: `ask-${id}` }
  const reply = await callRoute(system, 'start-research', call)
  if (reply === undefined || reply.status >= 300) return
  const run_id = String(reply.json.run_id)
  linked.push({ tenant, run_id })
  for (let looks = 0; looks < 4; looks += 1) {
    const answer = await callRoute(system, 'get-research', { tenant, params: { run_id }, query: { wait: '20' } })
    if (answer?.status === 200) return
  }
}
