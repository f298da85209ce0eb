import { PLAN_ROUTES } from '../../shared/api/plan-routes.ts'
import { parseDag } from '../../shared/dag/parse.ts'
import { Fault } from '../../shared/errors.ts'
import { planDag } from '../../shared/plan/plan-dag.ts'
import { httpHandler } from '../http-handler.ts'

/** Nothing is started, and nothing is read but the names of providers. */
export const handler = httpHandler({
  name: 'plan-dag',
  schema: PLAN_ROUTES['plan-dag'],
  run: ({ body }, world) => {
    const { dag: given, max_parallel = world.settings.safety.max_parallel, ...told } = body
    const parsed = parseDag(given, { providers: world.providers.names() })
    if (parsed.ok) return { json: planDag(parsed.dag, { ...told, max_parallel }, world.settings) }
    const message = 'Cannot plan the DAG: it has errors, listed with their places.'
    const issues = parsed.errors.slice(0, 20).map((error) => ({ ...error }))
    throw new Fault('InvalidInput', 'invalid_dag', message, { issues })
  },
})
