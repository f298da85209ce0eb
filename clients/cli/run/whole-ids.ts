import type { Command } from 'commander'
import * as z from 'zod'
import { SHORT_RUN_ID } from '../../../shared/runs/ids.ts'
import { callApi, chooseTarget, type Target } from '../server/api.ts'
import { Refused } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { oneLine } from '../terminal/text.ts'

/**
 * Before a command runs: each argument that names a run may be the beginning of its id, with or without `run_`, and the
 * command gets the whole one. What begins no run's id is passed on: the server says what is wrong with it.
 */
export async function takeShortIds(session: Session, command: Command): Promise<void> {
  const target = () => chooseTarget(session, command.opts<{ readonly url?: string }>().url)
  for (const [at, argument] of command.registeredArguments.entries()) {
    const typed: unknown = command.processedArgs[at]
    if (!RUN_ARGUMENTS.has(argument.name()) || typeof typed !== 'string' || !isShort(typed)) continue
    command.processedArgs[at] = await wholeId(target(), typed)
  }
}

const RUN_ARGUMENTS: ReadonlySet<string> = new Set(['run-id', 'run-a', 'run-b', 'run'])

const WHOLE = /^run_.{26}$/

function isShort(typed: string): boolean {
  return SHORT_RUN_ID.test(typed) && !WHOLE.test(typed)
}

const ListSchema = z.looseObject({
  runs: z.array(z.looseObject({ run_id: z.string(), dag_name: z.string(), state: z.string(), created_at: z.string() })),
  next_cursor: z.string().nullable(),
})

/** Candidates an ambiguous id names. */
const MOST = 10
/** Pages of the list that are looked through: each is up to a hundred thousand runs. */
const MOST_PAGES = 5

async function wholeId(target: Target, typed: string): Promise<string> {
  const found: z.infer<typeof ListSchema>['runs'] = []
  let cursor: string | undefined
  for (let pages = 0; pages < MOST_PAGES && found.length <= MOST; pages += 1) {
    const query = { id: typed, limit: MOST + 1, ...(cursor !== undefined && { cursor }) }
    const page = await callApi(target, ListSchema, (api) => api.GET('/api/dag/runs', { params: { query } }))
    found.push(...page.runs)
    cursor = page.next_cursor ?? undefined
    if (cursor === undefined) break
  }
  const [first, ...others] = found
  if (first === undefined) return typed
  if (others.length > 0) throw ambiguous(typed, found)
  return first.run_id
}

function ambiguous(typed: string, found: z.infer<typeof ListSchema>['runs']): Refused {
  const errors = found.slice(0, MOST).map(({ run_id, dag_name, state, created_at }) => ({
    path: run_id,
    message: oneLine(`${dag_name}, ${state}, begun ${created_at}`),
  }))
  const many = found.length > MOST ? `more than ${MOST}` : String(found.length)
  const detail = `Cannot tell which run "${typed}" is: ${many} begin so. Write more of its id.`
  return new Refused({ code: 'ambiguous_id', detail, errors }, { exitCode: 2 })
}
