import type { Json } from '../canonical.ts'
import { HANDLERS } from '../handlers.ts'
import { ASKED_LIMITS } from '../research/asked-intent.ts'
import { PORT_TYPES } from './dag.ts'
import { LIMITS } from './limits.ts'
import type { SECTIONS } from './sections.ts'

export type Section = keyof typeof SECTIONS
type Schema = Readonly<Record<string, Json>>

const ref = (section: Section | 'check' | 'contract'): Schema => ({ $ref: `#/$defs/${section}` })
const listOf = (items: Schema, maxItems: number): Schema => ({ type: 'array', items, maxItems })
const NAME = '[A-Za-z][A-Za-z0-9_-]{0,63}'
const name: Schema = { type: 'string', pattern: `^${NAME}$` }
const output: Schema = { type: 'string', pattern: `^${NAME}\\.${NAME}$` }
const named = (value: Schema): Schema => ({ type: 'object', propertyNames: name, additionalProperties: value })
const portType: Schema = { enum: PORT_TYPES }
/** `name: string` is short for `name: { type: string }`. */
const portOf = (section: Section): Schema => ({ anyOf: [portType, ref(section)] })
const expression: Schema = { type: 'string', minLength: 1, maxLength: 1_000 }
const object: Schema = { type: 'object' }
const approver: Schema = { type: 'string', pattern: '^(?:user|group|slack|iam|token):.*\\S' }
const gates = listOf(ref('gate'), LIMITS.gates_per_block)
const itemGate: Schema = { allOf: [ref('gate'), { properties: { on_fail: { enum: ['retry', 'fail', 'warn'] } } }] }
const notBlank = (maxLength: number): Schema => ({ type: 'string', pattern: '\\S', maxLength })
const hints: Schema = {
  type: 'object',
  propertyNames: notBlank(ASKED_LIMITS.hint_key_characters),
  additionalProperties: notBlank(ASKED_LIMITS.hint_value_characters),
  maxProperties: ASKED_LIMITS.hints,
}
const composition: Schema = { anyOf: [{ enum: ['all', 'any'] }, ref('at_least'), ref('weights')] }
/** Named, or described. */
const somebody: Schema = {
  anyOf: [['provider', 'model'], ['role'], ['capability'], ['specific']].map((required) => ({ required })),
}
const someCap: Schema = { anyOf: [{ required: ['tokens'] }, { required: ['usd'] }] }
/** Another mode than this one (the default: ai), or its section. */
const modeRule = (mode: string, section: string): Schema => ({
  anyOf: [
    { properties: { mode: { not: { const: mode } } }, ...(mode === 'ai' ? { required: ['mode'] } : {}) },
    { required: [section], ...(mode === 'ai' ? { properties: { agent: somebody } } : {}) },
  ],
})

/**
 * What zod cannot say of a section, since the parser reads it by itself: schemas of those keys, keys that must be
 * there, and rules over the whole section.
 */
export const PARTS: Readonly<
  Partial<
    Record<
      Section,
      {
        readonly keys?: Readonly<Record<string, Schema>>
        readonly required?: readonly string[]
        readonly rules?: Schema
      }
    >
  >
> = {
  document: {
    keys: {
      inputs: named(portOf('run_input')),
      blocks: { ...listOf(ref('block'), LIMITS.blocks), minItems: 1 },
      edges: { type: 'array', items: ref('edge') },
      budget: ref('budget'),
      completion: ref('completion'),
      goal_contract: ref('contract'),
    },
    required: ['blocks'],
  },
  completion: { keys: { trust: ref('trust'), claim: output, blockers: output } },
  trust: {
    keys: { from: { anyOf: [output, { ...listOf(output, LIMITS.verifiers), minItems: 1 }] } },
    required: ['from'],
  },
  run_input: { keys: { type: portType } },
  input: { keys: { type: portType, from: output } },
  output: { keys: { type: portType }, required: ['type'] },
  block: {
    keys: {
      id: name,
      mode: { enum: ['ai', 'deterministic', 'approval', 'dag', 'research'], default: 'ai' },
      inputs: named(portOf('input')),
      outputs: { ...named(portOf('output')), maxProperties: LIMITS.outputs_per_block },
      agent: ref('agent'),
      deterministic: ref('deterministic'),
      dag: ref('child'),
      research: ref('research'),
      when: expression,
      depends: expression,
      foreach: ref('foreach'),
      cache: ref('cache'),
      budget: ref('block_budget'),
      pre_gates: gates,
      post_gates: gates,
      gate_composition: ref('gate_composition'),
      on_gate_fail: listOf(ref('bounce'), LIMITS.gates_per_block),
      approval: { anyOf: [{ type: 'boolean' }, ref('approval')] },
      retry: ref('retry'),
    },
    required: ['id'],
    rules: {
      allOf: [
        modeRule('ai', 'agent'),
        modeRule('deterministic', 'deterministic'),
        modeRule('approval', 'approval'),
        modeRule('dag', 'dag'),
        modeRule('research', 'research'),
      ],
    },
  },
  agent: { keys: { model_params: object } },
  deterministic: { keys: { handler: { enum: Object.keys(HANDLERS) }, config: object } },
  gate: { keys: { check: ref('check') }, required: ['check'] },
  gate_composition: { keys: { pre: composition, post: composition } },
  approval: {
    keys: {
      approvers: listOf(approver, 100),
      approver: { type: 'string', minLength: 1 },
      escalate: ref('escalate'),
      edit: listOf(name, 100),
    },
  },
  escalate: { keys: { to: { ...listOf(approver, 100), minItems: 1 } } },
  edge: { keys: { transform: expression } },
  foreach: {
    keys: {
      items: {
        anyOf: [
          { type: 'string', pattern: '^\\s*\\{\\{[^{}]*\\}\\}\\s*$' },
          { type: 'array', maxItems: LIMITS.foreach_items },
        ],
      },
      as: { ...name, default: 'item' },
      item_gates: listOf(itemGate, LIMITS.gates_per_block),
    },
    required: ['items'],
  },
  budget: { rules: someCap },
  block_budget: { rules: someCap },
  bounce: { keys: { route_to: name, reset_blocks: listOf(name, LIMITS.hull_blocks) }, required: ['route_to'] },
  child: { keys: { inputs: { ...object, propertyNames: name }, outputs: named(output) } },
  research: { keys: { hints } },
}
