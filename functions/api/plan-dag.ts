import { DOCUMENT_ROUTES } from '../../shared/api/document-routes.ts'
import { parseDagInIsolate } from '../../shared/document/parse.ts'
import { Fault } from '../../shared/errors.ts'
import { planDag } from '../../shared/plan/plan-dag.ts'
import { isolateFor } from '../../shared/ports/isolate.ts'
import { changeHandler } from '../http-handler.ts'
import { stepsOf } from '../runs/documents.ts'

/** Nothing is started, and nothing is read but the names of providers and services and what steps say of themselves. It counts as a change: it costs as much. */
export const handler = changeHandler({
  name: 'plan-dag',
  schema: DOCUMENT_ROUTES['plan-dag'],
  run: async ({ body, principal, signal }, world) => {
    const { dag: given, max_parallel = world.settings.safety.max_parallel, ...told } = body
    const isolate = isolateFor(world.isolate, { tenant: principal.tenant, signal })
    const place = {
      providers: world.providers.names(),
      services: world.settings.services,
      steps: await stepsOf(world.steps, given),
      modules: world.modules,
    }
    const parsed = await parseDagInIsolate(given, place, isolate)
    if (parsed.ok) return { json: planDag(parsed.dag, { ...told, max_parallel }, world.settings) }
    const message = 'Cannot plan the DAG: it has errors, listed with their places.'
    const issues = parsed.errors.slice(0, 20).map((error) => ({ ...error }))
    throw new Fault('InvalidInput', 'invalid_dag', message, { issues })
  },
})
