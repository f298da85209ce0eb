import type { Principal } from '../../../shared/auth/principal.ts'
import { SCOPES } from '../../../shared/auth/scopes.ts'
import type { ScriptedDecision, TestCase } from '../../../shared/cases/case-file.ts'
import { Fault, type Issue } from '../../../shared/errors.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import type { RunKey } from '../../../shared/runs/run-store.ts'
import type { ApprovalItem } from '../../../shared/runs/run-store-items.ts'
import type { World } from '../../../shared/world.ts'
import type { Host } from '../host.ts'
import type { Scripts } from './scripted-ports.ts'
import type { VirtualTime } from './virtual-time.ts'

/** All cases begin then. */
export const START = Date.parse('2026-01-01T00:00:00Z')
export const TENANT = 'main'
/** Who starts them. */
export const TESTER = 'tester'

/** What is given to one run in a place of its own, which is gone when it has ended. */
export interface Play extends Pick<TestCase, 'inputs' | 'context' | 'settings' | 'steps' | 'tools'>, Scripted {
  /** A document: deployed by name, a file that ends in .yaml, or the document itself. */
  readonly dag: string | object
  /** Where sluice.yaml is. */
  readonly project: string
  /** From where files of the case are named. */
  readonly folder: string
}

interface Scripted extends Pick<TestCase, 'events' | 'callbacks'> {
  readonly models?: Scripts['models']
  readonly decisions?: 'approve' | 'reject' | readonly ScriptedDecision[] | undefined
}

/** A case under way. */
export interface Playing {
  readonly world: World
  readonly host: Host
  readonly time: VirtualTime
  readonly play: Play
  readonly problems: string[]
}

interface Request {
  readonly body: unknown
  readonly params?: Readonly<Record<string, string>>
  readonly by?: string | undefined
}

/** A route as the API calls it; what it refuses is a Fault with its words. */
export async function route({ host }: Playing, name: string, { body, params, by = TESTER }: Request) {
  const event = {
    httpMethod: 'POST',
    path: '/',
    pathParameters: params ?? null,
    queryStringParameters: null,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    isBase64Encoded: false,
  }
  // Both hosts answer as API Gateway's proxy wants it (functions/http-handler.ts).
  const answer = (await host.invoke(name, event, { principal: person(by) })) as {
    readonly statusCode: number
    readonly body: string
  }
  const json: Readonly<Record<string, unknown>> = JSON.parse(answer.body)
  if (answer.statusCode < 300) return json
  throw refusedBy(json)
}

function refusedBy({ code, detail, errors }: Readonly<Record<string, unknown>>): Fault {
  const issues: readonly Issue[] = Array.isArray(errors) ? errors : []
  const lines = issues.map(({ message, line, column }) =>
    line === undefined ? message : `${line}:${column} ${message}`,
  )
  return new Fault('InvalidInput', String(code), [String(detail), ...lines].join('\n'), { issues })
}

function person(id: string): Principal {
  return { kind: 'user', id: id.replace(/^user:/, ''), tenant: TENANT, scopes: SCOPES, via: 'local' }
}

/** All of a run's, in order. */
export async function eventsOf({ world }: Playing, run: RunKey): Promise<readonly RunEvent[]> {
  return world.runs.events(run, 0, 20_000)
}

/** Questions nobody has answered, of the run and of its children. */
export async function openQuestions(
  { world }: Playing,
  run: RunKey,
): Promise<readonly (ApprovalItem & { readonly run: RunKey })[]> {
  const { runs } = await world.runs.list(TENANT, { limit: 100 })
  const found = await Promise.all(
    [run, ...runs.filter(({ run_id, parent }) => run_id !== run.run_id && parent !== undefined)].map(
      async ({ run_id }) => {
        const key = { tenant: TENANT, run_id }
        const head = await world.runs.head(key)
        const items = await world.runs.approvals(key)
        return items
          .filter(({ id }) => head?.approvals[id]?.status === 'pending')
          .map((item) => ({ ...item, run: key }))
      },
    ),
  )
  return found.flat().sort((a, b) => a.requested_at.localeCompare(b.requested_at) || a.id.localeCompare(b.id))
}
