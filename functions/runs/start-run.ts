import * as z from 'zod'
import { runLinks } from '../../shared/api/links.ts'
import { START_RUN } from '../../shared/api/start-run.ts'
import { changeHandler } from '../change-handler.ts'
import { functionHandler, type HostContext } from '../handler.ts'
import { beginRun } from './begin-run.ts'
import { launchRun } from './launch-run.ts'

/**
 * The only function that starts executions: POST /api/dag/run, and the asynchronous invoke of the outbox for a run
 * whose HEAD and META exist.
 */
export function handler(event: unknown, context: HostContext): Promise<unknown> {
  const isHttp = typeof event === 'object' && event !== null && 'httpMethod' in event
  return isHttp ? route(event, context) : invoked(event, context)
}

const route = changeHandler({
  name: 'start-run',
  schema: START_RUN,
  async run({ principal, body, headers }, world) {
    const begun = await beginRun(world, principal, body, headers['idempotency-key'])
    const { run, created, queued, dag_name, dag_hash, blocks, edges } = begun
    const links = runLinks(run.run_id)
    const answer = { run_id: run.run_id, dag_name, dag_hash, blocks, edges, ...(queued && { queued }), links }
    return { status: created ? 201 : 200, json: answer }
  },
})

const invoked = functionHandler({
  name: 'start-run',
  input: z.strictObject({ tenant: z.string().min(1), run_id: z.string().min(1) }),
  async run(run, world) {
    await launchRun(world, run)
    return {}
  },
})
