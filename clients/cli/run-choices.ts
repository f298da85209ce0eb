import * as z from 'zod'
import { callApi, chooseTarget } from './api.ts'
import type { Choice } from './completions-of.ts'
import { findLogin } from './local-login.ts'
import type { Session } from './session.ts'

/** Somebody waits at a prompt; a server on a busy machine may still need more than a blink. */
const PATIENCE_MS = 2_000

const RunsSchema = z.looseObject({
  runs: z.array(z.looseObject({ run_id: z.string(), dag_name: z.string(), state: z.string() })),
})

/** The newest runs of the server, if it answers at once; no server is no error here. */
export async function runChoices(session: Session): Promise<readonly Choice[]> {
  const request = { params: { query: { limit: 50 } }, signal: AbortSignal.timeout(PATIENCE_MS) }
  const login = await findLogin(session.settings.url)
  const here = login === undefined ? session : { ...session, login }
  const answer = await callApi(chooseTarget(here), RunsSchema, (api) => api.GET('/api/dag/runs', request)).catch(
    () => undefined,
  )
  return (answer?.runs ?? []).map(({ run_id, dag_name, state }) => ({ value: run_id, says: `${dag_name}, ${state}` }))
}
