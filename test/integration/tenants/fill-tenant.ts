import { setTimeout as pause } from 'node:timers/promises'
import { sha256 } from '../../../shared/text/hash.ts'
import { idOf, place, stated } from '../../conformance/graph-fixture.ts'
import type { Answer, Door } from './door.ts'

/** Ids of one tenant, of every kind there is. */
export interface Filled {
  readonly tenant: string
  /** A run that has ended, and one whose question is open. */
  readonly done: string
  readonly asking: string
  readonly research: string
  readonly approval: string
  readonly digest: string
  /** It states something of the other one. */
  readonly entity: string
  readonly beside: string
  readonly alone: string
  readonly object: string
  readonly artifact: string
  readonly token: string
  readonly endpoint: string
  readonly dead: string
  /** Planned, and not started. */
  readonly bulk: string
  /** Two names of searches: one of them is taken away. */
  readonly views: readonly [string, string]
  readonly key: string
  readonly cursors: Readonly<Record<'runs' | 'open' | 'closed' | 'dead', string>>
}

const agent = { provider: 'local', model: 'outline', prompt: 'A plan for {{inputs.topic}}' }
const text = { text: { type: 'string' } }
const writes = {
  id: 'keep',
  inputs: { body: { from: 'plan.text' } },
  outputs: { file: { type: 'artifact' } },
  mode: 'deterministic',
  deterministic: { handler: 'write-artifact', config: { name: 'note.txt' } },
}
const plan = { id: 'plan', inputs: { topic: { type: 'string', default: 'rain' } }, outputs: text, agent }

/** `secret` is in everything it makes: nobody else may ever read the word. */
export const documentOf = (secret: string) => ({ name: `written-${secret}`, blocks: [plan, writes] })
export const askingOf = (secret: string) => ({
  name: `asking-${secret}`,
  blocks: [{ ...plan, approval: { prompt: `Go for ${secret}?` } }],
})

/** Gives a tenant at least one thing of each kind; two where a list has pages. */
export async function fillTenant(door: Door, tenant: string): Promise<Filled> {
  const call = (method: string, path: string, body?: unknown) => door.call(tenant, method, path, { body })
  const secret = `${tenant}secret`
  const key = `key-of-${tenant}`
  const started = await door.call(tenant, 'POST', '/api/dag/run', {
    body: { dag: documentOf(secret), context: { secret } },
    headers: { 'idempotency-key': key },
  })
  const done = idIn(started, 'run_id')
  const start = async () => idIn(await call('POST', '/api/dag/run', { dag: askingOf(secret) }), 'run_id')
  const [asking, second, third, fourth] = [await start(), await start(), await start(), await start()]
  const research = idIn(await call('POST', '/api/research', { topic: `What is ${secret}?` }), 'run_id')
  const put = await door.call(tenant, 'PUT', '/api/objects', { text: `The body of ${secret}.` })
  const name = `of${tenant}`
  const about = place(name, [], { label: secret, objectstore_ref: idIn(put, 'ref') })
  const stating = stated(name, 'geo.borders', idOf(`beside${tenant}`))
  const entities = [{ ...about, triples: [stating] }, place(`beside${tenant}`), place(`alone${tenant}`)]
  idIn(await call('PUT', '/api/graph/entities', { entities }), 'results')
  const token = idIn(await call('POST', '/api/tokens', { name: secret, scopes: ['runs:read'] }), 'token_id')
  for (const run of [asking, second, third, fourth]) await until(door, tenant, run, 'approval:requested')
  for (const run of [third, fourth]) await decide(door, tenant, run)
  for (const run of [third, fourth, done]) await until(door, tenant, run, 'run:completed')
  await until(door, tenant, research, 'run:completed')
  const { approval_id, digest } = await questionOf(door, tenant, asking)
  const dead = await deadOf(door, tenant)
  const planned = await call('POST', '/api/dag/bulk', { action: 'stop', q: `dag:asking-${secret}` })
  if (planned.status !== 201) throw new Error(`${planned.status} ${planned.text}`)
  const { bulk_id: bulk }: { readonly bulk_id: string } = JSON.parse(planned.text).bulk
  const views = [`view-of-${tenant}`, `view-by-${tenant}`] as const
  for (const view of views) idIn(await call('PUT', `/api/dag/views/${view}`, { q: `dag:asking-${secret}` }), 'name')
  return {
    ...{ tenant, done, asking, research, approval: approval_id, digest, token, key, dead, bulk, views },
    ...{
      entity: idOf(name),
      beside: idOf(`beside${tenant}`),
      alone: idOf(`alone${tenant}`),
      object: put.json.sha256,
      artifact: 'note.txt',
      endpoint: `hook-${tenant}`,
    },
    cursors: {
      runs: await cursorOf(door, tenant, '/api/dag/runs?limit=1'),
      open: await cursorOf(door, tenant, '/api/dag/approvals?limit=1'),
      closed: await cursorOf(door, tenant, '/api/dag/approvals?limit=1&status=decided'),
      dead: await cursorOf(door, tenant, '/api/webhooks/dead?limit=1'),
    },
  }
}

function idIn(answer: Answer, member: string): string {
  if (answer.status > 299 || answer.json[member] === undefined) throw new Error(`${answer.status} ${answer.text}`)
  return String(answer.json[member])
}

const WAIT_MS = 90_000

async function until(door: Door, tenant: string, run_id: string, type: string): Promise<void> {
  const path = `/api/dag/runs/${run_id}/replay?limit=1000`
  await eventually(async () => (await door.call(tenant, 'GET', path)).text.includes(`"type":"${type}"`), path)
}

export async function eventually(fits: () => Promise<boolean>, what: string, withinMs = WAIT_MS): Promise<void> {
  for (const end = Date.now() + withinMs; !(await fits()); await pause(100)) {
    if (Date.now() > end) throw new Error(`it did not come to that: ${what}`)
  }
}

async function questionOf(door: Door, tenant: string, run_id: string) {
  const { json } = await door.call(tenant, 'GET', `/api/dag/runs/${run_id}/replay?limit=1000`)
  const asked = json.events.find((event) => event.type === 'approval:requested')
  return asked?.data as { readonly approval_id: string; readonly digest: string }
}

async function decide(door: Door, tenant: string, run_id: string): Promise<void> {
  const { approval_id, digest } = await questionOf(door, tenant, run_id)
  const body = { approval_id, digest, decision: 'approve' }
  idIn(await door.call(tenant, 'POST', `/api/dag/runs/${run_id}/approvals`, { body }), 'run')
}

/** The receiver says of each message that it is gone: two at least are dead, so that their list has pages. */
async function deadOf(door: Door, tenant: string): Promise<string> {
  const list = async () => (await door.call(tenant, 'GET', '/api/webhooks/dead')).json.dead ?? []
  await eventually(async () => (await list()).length > 1, 'dead webhooks')
  return String((await list())[0]?.id)
}

async function cursorOf(door: Door, tenant: string, path: string): Promise<string> {
  let cursor: string | null = null
  // An index follows its table within a moment.
  await eventually(async () => {
    cursor = (await door.call(tenant, 'GET', path)).json.next_cursor ?? null
    return cursor !== null
  }, path)
  return cursor ?? ''
}

/** The sha256 of a body nobody has. */
export const NO_OBJECT = sha256('nobody has this')
