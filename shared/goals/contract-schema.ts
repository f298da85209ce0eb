import { type Schema, schemaMembers } from '../schema-members.ts'
import { CRITERION_KINDS } from './criteria/registry.ts'
import { ContractHeadSchema } from './goal-contract.ts'

/** JSON Schema of a goal contract, made of the schemas it is read by: its head, and one a kind of criterion. */
export function contractSchema(): Schema {
  const { properties, required } = schemaMembers(ContractHeadSchema)
  const criteria = { type: 'array', minItems: 1, items: { anyOf: CRITERION_KINDS.map(criterionSchema) } }
  return {
    description: 'What a run is to reach, and how that is seen (docs/goal-gates.md).',
    type: 'object',
    properties: { ...properties, acceptance_criteria: criteria },
    required,
    additionalProperties: false,
  }
}

/** A target may be what the run is started with. */
const RUN_INPUT = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
}

function criterionSchema({ kind, summary, schema }: (typeof CRITERION_KINDS)[number]): Schema {
  const { properties, required } = schemaMembers(schema)
  const { target } = properties
  const open = target === undefined ? {} : { target: { anyOf: [target, RUN_INPUT] } }
  const all = { ...properties, ...open }
  return { title: kind, description: summary, type: 'object', properties: all, required, additionalProperties: false }
}
