import { setTimeout as pause } from 'node:timers/promises'
import fc from 'fast-check'
import { runIdOfIdempotencyKey } from '../../../shared/runs/ids.ts'
import { sha256 } from '../../../shared/text/hash.ts'
import { idOf, place, stated } from '../../conformance/graph-fixture.ts'
import { type Answer, type Door, type Request, TENANTS } from './door.ts'
import { askingOf, documentOf } from './fill-tenant.ts'

/** One call of a tenant; it may name what is the other one's. */
export interface Step {
  readonly by: (typeof TENANTS)[number]
  readonly of: (typeof TENANTS)[number]
  readonly act: keyof typeof ACTS
  readonly key: 'a' | 'b' | 'c'
}

type Call = Request & { readonly method: string; readonly path: string }

const START = 'POST /api/dag/run'
const retryOf = (id: string) => `POST /api/dag/runs/run_${id}/retry`

/** Ids follow from tenant, caller and key; where they are told they are called after them, so that worlds compare. */
interface Ids {
  runOf(tenant: string, key: string): string
  called(text: string): string
}

function idsOf(door: Door): Ids {
  const idOfCall = (tenant: string, route: string, key: string) =>
    runIdOfIdempotencyKey(tenant, door.caller(tenant), route, key).slice('run_'.length)
  const names = TENANTS.flatMap((tenant) =>
    ['a', 'b', 'c'].flatMap((key) => {
      const id = idOfCall(tenant, START, key)
      const again = idOfCall(tenant, retryOf(id), `again-${key}`)
      return [[id, `<${tenant} ${key}>`] as const, [again, `<${tenant} again ${key}>`] as const]
    }),
  )
  return {
    runOf: (tenant, key) => `run_${idOfCall(tenant, START, key)}`,
    called: (text) => names.reduce((told, [id, name]) => told.replaceAll(id, name), text),
  }
}

const bodyOf = (tenant: string, key: string) => `the body ${key} of ${tenant}`
const nameOf = (tenant: string, key: string) => `${tenant}${key}`
const send = (method: string, path: string, body?: unknown): Call => ({ method, path, body })
const ofRun =
  (rest: string, body?: unknown) =>
  (step: Step, { runOf }: Ids) =>
    send(body === undefined ? 'GET' : 'POST', `/api/dag/runs/${runOf(step.of, step.key)}${rest}`, body)

const ACTS = {
  start: ({ by, key }) => ({
    ...send('POST', '/api/dag/run', { dag: key === 'c' ? documentOf(by) : askingOf(by) }),
    headers: { 'idempotency-key': key },
  }),
  read: ofRun(''),
  events: ofRun('/replay'),
  outputs: ofRun('/outputs/plan'),
  stop: ofRun('/stop', { reason: 'no more' }),
  decide: ofRun('/approvals', { block_id: 'plan', decision: 'reject' }),
  retry: (step, ids) => ({ ...ofRun('/retry', {})(step, ids), headers: { 'idempotency-key': `again-${step.key}` } }),
  diff: ({ by, of, key }, { runOf }) => send('GET', `/api/dag/runs/${runOf(by, 'c')}/diff/${runOf(of, key)}`),
  patch: ({ of, key }, { runOf }) =>
    send('PATCH', `/api/dag/runs/${runOf(of, key)}/context`, { set: { note: key }, if_version: 1 }),
  stop_all: () => send('POST', '/api/dag/runs/stop-all', {}),
  put: ({ by, of, key }) =>
    send('PUT', '/api/graph/entities', {
      entities: [place(nameOf(by, key), [nameOf(of, 'a')], { label: `${by} ${key}` })],
    }),
  state: ({ of, key }) =>
    send('PUT', '/api/graph/triples', { triples: [stated(nameOf(of, key), 'geo.capital', `told ${key}`)] }),
  delete: ({ of, key }) => send('DELETE', `/api/graph/entities/${idOf(nameOf(of, key))}`),
  entity: ({ of, key }) => send('GET', `/api/graph/entities/${idOf(nameOf(of, key))}`),
  near: ({ of }) => send('GET', `/api/graph/entities/${idOf(nameOf(of, 'a'))}/neighbors`),
  search: ({ of, key }) => send('GET', `/api/graph/search?q=${of}%20${key}`),
  store: ({ by, key }) => ({ method: 'PUT', path: '/api/objects', text: bodyOf(by, key) }),
  object: ({ of, key }) => send('GET', `/api/objects/${sha256(bodyOf(of, key))}`),
  runs: () => send('GET', '/api/dag/runs'),
  approvals: () => send('GET', '/api/dag/approvals?status=all'),
  safety: () => send('GET', '/api/dag/safety'),
} satisfies Readonly<Record<string, (step: Step, ids: Ids) => Call>>

export const stepsArbitrary: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    by: fc.constantFrom(...TENANTS),
    of: fc.constantFrom(...TENANTS),
    act: fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('start', 'start', 'put', 'store') },
      { weight: 5, arbitrary: fc.constantFrom(...(Object.keys(ACTS) as Step['act'][])) },
    ),
    key: fc.constantFrom('a', 'b', 'c'),
  }) as fc.Arbitrary<Step>,
  { minLength: 10, maxLength: 30 },
)

/** What a tenant was answered, step by step, and what it reads in the end; without what a clock or dice made. */
export async function walk(door: Door, steps: readonly Step[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const told = new Map<string, string[]>(TENANTS.map((tenant) => [tenant, []]))
  const ids = idsOf(door)
  for (const step of steps) {
    const call: Call = ACTS[step.act](step, ids)
    const answer = await door.call(step.by, call.method, call.path, call)
    await rest(door, step.by)
    told.get(step.by)?.push(`${step.act} ${step.of} ${step.key}: ${shown(ids, answer)}`)
  }
  for (const tenant of TENANTS) {
    for (const path of WORLD(tenant, ids))
      told.get(tenant)?.push(`${ids.called(path)}: ${shown(ids, await door.call(tenant, 'GET', path))}`)
  }
  return told
}

const WORLD = (tenant: string, { runOf }: Ids) => [
  ...['/api/dag/runs', '/api/dag/approvals?status=all', '/api/graph/search?limit=100', '/api/dag/safety'],
  ...['a', 'b', 'c'].flatMap((key) => [
    `/api/dag/runs/${runOf(tenant, key)}/replay`,
    `/api/graph/entities/${idOf(nameOf(tenant, key))}`,
  ]),
]

/** Until nothing of the tenant moves, and what waits for people holds no place: a step means the same then, however fast the machine is. */
async function rest(door: Door, tenant: string): Promise<void> {
  for (const end = Date.now() + 30_000; ; await pause(10)) {
    const { text } = await door.call(tenant, 'GET', '/api/dag/runs')
    const { json } = await door.call(tenant, 'GET', '/api/dag/safety')
    if (!/"state":"(running|pending|paused)"/.test(text) && json.active_runs === 0) return
    if (Date.now() > end) throw new Error(`it does not come to rest: ${text}`)
  }
}

function shown(ids: Ids, answer: Answer): string {
  const dicey = inOneOrder(ids, answer)
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>')
    .replaceAll(/token:[0-9a-z]{16}|(?<="kind":"token","id":")[0-9a-z]{16}/g, '<caller>')
    .replaceAll(/"(\w+_ms|holder|duration|seq)":("[^"]*"|[\d.]+)/g, '"$1":0')
  return `${answer.status} ${dicey}`
}

/** Questions of two runs that one step ends are listed by when each of them ended: that is the machine's to say. */
function inOneOrder({ called }: Ids, { text, json }: Answer): string {
  const { approvals } = json
  if (!Array.isArray(approvals)) return called(text)
  const approvalOf = (one: unknown) => called(String((one as { readonly approval_id: unknown }).approval_id))
  return called(
    JSON.stringify({ ...json, approvals: approvals.toSorted((a, b) => (approvalOf(a) < approvalOf(b) ? -1 : 1)) }),
  )
}
