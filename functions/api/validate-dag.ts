import { VALIDATE_DAG } from '../../shared/api/document-routes.ts'
import type { Dag, RunInput } from '../../shared/dag/dag.ts'
import { parseDagInIsolate } from '../../shared/document/parse.ts'
import { dagTaskIssues } from '../../shared/document/task-gates.ts'
import { isolateFor } from '../../shared/ports/isolate.ts'
import { changeHandler } from '../http-handler.ts'
import { stepsOf } from '../runs/documents.ts'

/** The same check a start makes, with the providers, agents and steps of this place; a bad document is an answer here, not a problem. It changes nothing, and counts as if it did: it costs as much. */
export const handler = changeHandler({
  name: 'validate-dag',
  schema: VALIDATE_DAG,
  run: async ({ body, principal, signal }, world) => {
    const isolate = isolateFor(world.isolate, { tenant: principal.tenant, signal })
    const steps = await stepsOf(world.steps, body.dag)
    const place = { providers: world.providers.names(), routing: world.settings, steps, modules: world.modules }
    const parsed = await parseDagInIsolate(body.dag, place, isolate)
    if (!parsed.ok) {
      const errors = parsed.errors.map((error) => ({ ...error }))
      return { json: { valid: false, errors, warnings: [], order: [], context_inputs: [] } }
    }
    const { dag, order, dag_hash } = parsed
    const wrong = dagTaskIssues(dag, world.settings, parsed.project)
    if (wrong.length > 0) {
      return { json: { valid: false, errors: [...wrong], warnings: [], order: [], context_inputs: [] } }
    }
    const warnings = parsed.warnings.map((warning) => ({ ...warning }))
    const context_inputs = contextInputs(dag)
    return { json: { valid: true, errors: [], warnings, order: [...order], dag_hash, context_inputs } }
  },
})

type ContextInput = Pick<RunInput, 'required' | 'declared' | 'type' | 'description' | 'default'> & {
  readonly name: string
  /** Blocks with a port of that name. */
  readonly blocks: string[]
}

/** What a run reads from its inputs or context: the document's inputs, and ports nothing is wired to. */
function contextInputs(dag: Dag): ContextInput[] {
  const inputs = new Map(Object.entries(dag.inputs).map(([name, input]) => [name, declaredInput(name, input)]))
  for (const block of dag.blocks) {
    for (const [name, port] of Object.entries(block.inputs)) {
      if (port.from !== undefined) continue
      const known = inputs.get(name) ?? { name, type: port.type, declared: false, required: false, blocks: [] }
      const required = known.required || (port.required && port.default === undefined)
      inputs.set(name, { ...known, required, blocks: [...known.blocks, block.id] })
    }
  }
  return [...inputs.values()]
}

function declaredInput(name: string, input: RunInput): ContextInput {
  const { required, declared, type, description, default: fallback } = input
  const words = { ...(type && { type }), ...(description && { description }) }
  return { name, required, declared, ...words, ...(fallback === undefined ? {} : { default: fallback }), blocks: [] }
}
