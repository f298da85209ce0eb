import { PORT_TYPES } from '../dag/dag.ts'
import { HANDLERS, STEP_PATH } from '../dag/handlers.ts'
import { NATIVE_HANDLERS } from '../dag/native-call.ts'
import { LIMITS } from '../limits.ts'
import { ASKED_LIMITS } from '../research/payloads/intent.ts'
import { LABEL_KEY, LABEL_LIMITS, LABEL_VALUE } from '../runs/labels.ts'
import { SUBJECT_LIMITS, SUBJECT_PATH } from '../runs/subject.ts'
import type { Json } from '../text/json.ts'
import { TRIGGER_LIMITS } from '../triggers/trigger.ts'
import type { SECTIONS } from './sections.ts'

export type Section = keyof typeof SECTIONS
type Schema = Readonly<Record<string, Json>>

const ref = (section: Section | 'check' | 'contract'): Schema => ({ $ref: `#/$defs/${section}` })
const listOf = (items: Schema, maxItems: number): Schema => ({ type: 'array', items, maxItems })
const NAME = '[A-Za-z][A-Za-z0-9_-]{0,63}'
const nameSchema: Schema = { type: 'string', pattern: `^${NAME}$` }
const outputSchema: Schema = { type: 'string', pattern: `^${NAME}\\.${NAME}$` }
const named = (value: Schema): Schema => ({ type: 'object', propertyNames: nameSchema, additionalProperties: value })
const portType: Schema = { enum: PORT_TYPES }
/** `name: string` is short for `name: { type: string }`. */
const portOf = (section: Section): Schema => ({ anyOf: [portType, ref(section)] })
const expression: Schema = { type: 'string', minLength: 1, maxLength: 1_000 }
const objectSchema: Schema = { type: 'object' }
const valuesSchema: Schema = { type: 'object', maxProperties: TRIGGER_LIMITS.inputs }
const programsSchema: Schema = {
  ...valuesSchema,
  additionalProperties: { type: 'string', pattern: '\\S', maxLength: TRIGGER_LIMITS.program_characters },
}
const approver: Schema = { type: 'string', pattern: '^(?:user|group|slack|iam|token):.*\\S' }
const gatesSchema = listOf(ref('gate'), LIMITS.gates_per_block)
const itemGate: Schema = { allOf: [ref('gate'), { properties: { on_fail: { enum: ['retry', 'fail', 'warn'] } } }] }
const notBlank = (maxLength: number): Schema => ({ type: 'string', pattern: '\\S', maxLength })
const hintsSchema: Schema = {
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
const duration: Schema = {
  anyOf: [
    { type: 'string', pattern: '^(?:\\d{1,9}[smhd])+$' },
    { type: 'integer', minimum: 1 },
  ],
}
const subjectPart: Schema = { type: 'string', pattern: SUBJECT_PATH.source }
const labelsPart: Schema = {
  type: 'object',
  propertyNames: { pattern: LABEL_KEY.source },
  additionalProperties: { type: 'string', pattern: LABEL_VALUE.source, maxLength: LABEL_LIMITS.value_characters },
  maxProperties: LABEL_LIMITS.labels,
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
      concurrency: ref('concurrency'),
      subject: { anyOf: [subjectPart, { ...listOf(subjectPart, SUBJECT_LIMITS.subjects), minItems: 1 }] },
      triggers: listOf(ref('trigger'), TRIGGER_LIMITS.triggers),
      labels: { anyOf: [labelsPart, { not: { type: 'object' } }] },
    },
    required: ['blocks'],
  },
  completion: { keys: { trust: ref('trust'), claim: outputSchema, blockers: outputSchema } },
  trust: {
    keys: { from: { anyOf: [outputSchema, { ...listOf(outputSchema, LIMITS.verifiers), minItems: 1 }] } },
    required: ['from'],
  },
  run_input: { keys: { type: portType } },
  input: { keys: { type: portType, from: outputSchema } },
  output: { keys: { type: portType }, required: ['type'] },
  block: {
    keys: {
      id: nameSchema,
      mode: { enum: ['ai', 'deterministic', 'approval', 'dag', 'research', 'wait'], default: 'ai' },
      inputs: named(portOf('input')),
      outputs: { ...named(portOf('output')), maxProperties: LIMITS.outputs_per_block },
      agent: ref('agent'),
      deterministic: ref('deterministic'),
      dag: ref('child'),
      research: ref('research'),
      wait: ref('wait'),
      when: expression,
      depends: expression,
      foreach: ref('foreach'),
      cache: ref('cache'),
      budget: ref('block_budget'),
      pre_gates: gatesSchema,
      post_gates: gatesSchema,
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
        modeRule('wait', 'wait'),
      ],
    },
  },
  agent: {
    keys: {
      model_params: objectSchema,
      fallback: { type: 'array', items: ref('fallback'), minItems: 1, maxItems: LIMITS.fallbacks },
    },
  },
  fallback: { keys: { model_params: objectSchema } },
  deterministic: {
    keys: {
      handler: {
        anyOf: [
          { enum: [...Object.keys(HANDLERS), ...Object.keys(NATIVE_HANDLERS)] },
          { type: 'string', pattern: STEP_PATH.source },
        ],
      },
      config: objectSchema,
    },
  },
  gate: { keys: { check: ref('check') }, required: ['check'] },
  gate_composition: { keys: { pre: composition, post: composition } },
  approval: {
    keys: {
      approvers: listOf(approver, 100),
      approver: { type: 'string', minLength: 1 },
      escalate: ref('escalate'),
      edit: listOf(nameSchema, 100),
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
      as: { ...nameSchema, default: 'item' },
      item_gates: listOf(itemGate, LIMITS.gates_per_block),
    },
    required: ['items'],
  },
  budget: { rules: someCap },
  block_budget: { rules: someCap },
  bounce: {
    keys: { route_to: nameSchema, reset_blocks: listOf(nameSchema, LIMITS.hull_blocks) },
    required: ['route_to'],
  },
  child: { keys: { inputs: { ...objectSchema, propertyNames: nameSchema }, outputs: named(outputSchema) } },
  research: { keys: { hints: hintsSchema } },
  wait: {
    keys: {
      for: duration,
      until: { type: 'string', minLength: 1 },
      event: ref('wait_event'),
      timeout: { ...duration, default: LIMITS.wait_default_sec },
    },
    rules: { oneOf: ['for', 'until', 'event', 'callback'].map((key) => ({ required: [key] })) },
  },
  trigger: {
    keys: {
      inputs: valuesSchema,
      schedule: ref('trigger_schedule'),
      webhook: ref('trigger_webhook'),
      event: ref('trigger_event'),
      run: ref('trigger_run'),
      object: ref('trigger_object'),
      debounce: ref('trigger_debounce'),
      rate: ref('trigger_rate'),
    },
    required: ['name'],
    rules: { oneOf: ['schedule', 'webhook', 'event', 'run', 'object'].map((key) => ({ required: [key] })) },
  },
  trigger_schedule: { required: ['cron'] },
  trigger_webhook: { keys: { verify: ref('trigger_verify'), map: programsSchema }, required: ['verify'] },
  trigger_verify: { keys: { hmac: ref('trigger_hmac') }, required: ['hmac'] },
  trigger_hmac: { keys: { timestamp: ref('trigger_timestamp') }, required: ['header', 'secret'] },
  trigger_timestamp: { required: ['header'] },
  trigger_event: {
    keys: { name: { type: 'string', pattern: '^[A-Za-z][A-Za-z0-9_.:/-]{0,127}$' }, map: programsSchema },
    required: ['name'],
  },
  trigger_run: { keys: { map: programsSchema }, required: ['dag'] },
  trigger_object: {
    keys: { map: programsSchema },
    rules: { anyOf: [{ required: ['prefix'] }, { required: ['suffix'] }] },
  },
  trigger_debounce: { keys: { for: duration, at_most: duration }, required: ['for'] },
  trigger_rate: { keys: { per: duration }, required: ['limit', 'per'] },
  wait_event: {
    keys: {
      name: { type: 'string', pattern: '^[A-Za-z][A-Za-z0-9_.:/-]{0,127}$' },
      key: { type: 'string', minLength: 1, maxLength: 256 },
    },
    required: ['name'],
  },
}

interface SectionWords {
  readonly section: string
  readonly keys: Readonly<Record<string, string>>
}

const EXTRAS = {
  metadata: 'Anything, for people and tools; no effect.',
  version: 'For people; no effect.',
  description: 'For people; no effect.',
  tags: 'For people and tools; no effect.',
  labels: 'For people and tools; no effect.',
}
const PORT = {
  type: 'string, number, boolean, json (any value), file or artifact (object refs).',
  required: 'Whether a missing value is an error. Default: true, and false where there is a default.',
  default: 'Value where nothing else gives one.',
  description: 'For people and generated prompts.',
}
const SEARCHED = 'Whether a run is found by the words of the value. Default: false.'
const CAPS = {
  tokens: 'Tokens in and out together.',
  usd: 'US dollars, by the price table; a model without a known price is then refused.',
}

/** What an editor shows of a section and of each of its keys; docs/dag.md says more. */
export const WORDS: Readonly<Record<Section, SectionWords>> = {
  document: {
    section: 'A DAG of blocks: units of work behind deterministic gates.',
    keys: {
      ...EXTRAS,
      name: 'Names the DAG in lists. Default: the base name of the file.',
      version: 'A text or a number, for people.',
      inputs: 'What a run is started with, by name.',
      blocks: 'The work; at most 1,000 blocks.',
      edges: 'Wires between blocks, instead of "from" of inputs or besides it.',
      entrypoints: 'Ids of blocks; no effect, the wires decide what comes first.',
      terminals: 'Ids of blocks; no effect, the wires decide what comes last.',
      budget: 'What a run may use of providers in all.',
      completion: 'How a run is judged beyond its blocks: trust, quality and goal.',
      goal_contract: 'What a run is to reach; the contract of a start request takes its place.',
      concurrency: 'How many runs go on at once, and which of them take turns.',
      subject: 'Whose data a run holds, as inputs.customer.id: what to find and erase its runs by. Several as a list.',
      triggers: 'What starts runs of the deployed document by itself.',
      labels: 'What its runs are found by, as {team: growth}: 20 keys at most, each with a text.',
    },
  },
  concurrency: {
    section: 'Runs of one key take turns: no more of them go on at once than the limit (docs/runs.md).',
    keys: {
      key: 'JSONata over inputs, as inputs.customer: a text, a number, true or false. Without it all runs take turns.',
      limit: 'Runs of one key at once, 1 to 100. Default: 1.',
      on_conflict:
        'Of a run started while as many go on as may: it waits (queue), is not started (skip), ends the oldest (cancel_running) or those that wait (replace_queued). Default: queue.',
    },
  },
  completion: {
    section: 'How a run is judged when every block has ended (docs/goal-gates.md).',
    keys: {
      trust: 'Who says how far the evidence can be trusted. Without it the trust gate fails.',
      quality: 'Rules for the evidence: standard, or ml for models besides. Default: standard.',
      pivot: 'Who starts the next attempt after a goal that was not met: manual or auto. Default: manual.',
      contract: 'Whether a run without a goal contract is refused. Default: optional.',
      claim: 'BLOCK.OUTPUT that is the status the workers claim; the gates only make it worse. Default: SUCCESS.',
      blockers: 'BLOCK.OUTPUT that lists what keeps the goal from being met; any entry blocks the run.',
    },
  },
  trust: {
    section: 'Verifiers of a run; the lowest score counts, and 80 of 100 pass.',
    keys: { from: 'BLOCK.OUTPUT, or several: a number from 0 to 100, or a value with one as trust_score.' },
  },
  run_input: { section: 'One input of the run.', keys: { ...PORT, search: SEARCHED } },
  input: {
    section: 'An input port of a block.',
    keys: { ...PORT, from: 'BLOCK.OUTPUT whose value it takes; the type then comes from there.' },
  },
  output: {
    section: 'An output port of a block.',
    keys: {
      type: PORT.type,
      required: 'Whether it must be there and not be blank. Default: true.',
      description: PORT.description,
      search: SEARCHED,
    },
  },
  block: {
    section: 'One unit of work: inputs, gates, what does the work, outputs.',
    keys: {
      ...EXTRAS,
      id: 'Unique in the document: a letter, then letters, digits, "_" or "-", 64 at most.',
      name: 'Shown to people. Default: the id.',
      mode: 'What does the work: ai (a model), deterministic (a handler), approval (a person), dag (a child run), research (a question to the knowledge graph), wait (nothing, until something happens).',
      inputs: 'Ports the block reads, by name.',
      outputs: 'Ports the block fills, by name.',
      agent: 'Which model does the work, and with which prompt (mode ai).',
      deterministic: 'Which handler does the work (mode deterministic).',
      dag: 'Which deployed DAG runs as a child (mode dag).',
      research: 'What is asked of the knowledge graph (mode research).',
      wait: 'What is waited for (mode wait).',
      when: 'Expression over inputs. Anything but true skips the block.',
      depends:
        'Expression over outcomes of blocks, as in "plan.succeeded && (lint.succeeded || lint.skipped)". Default: all upstream blocks succeeded.',
      foreach: 'Runs the block once for each item of a list.',
      cache: 'Lets an earlier result of the same definition and inputs stand in for the work.',
      budget: 'What this block may use of providers: all attempts, repairs, items and judges together.',
      pre_gates: 'Judge the inputs before the work is done.',
      post_gates: 'Judge the outputs before anybody sees them.',
      gate_composition: 'How the verdicts of a phase become one. Default: all must hold.',
      on_gate_fail: 'Which failed gate sends the run back to an earlier block, and how often.',
      approval: 'A person is asked before the work is done: true, or the details.',
      retry: 'How often and when the block is tried again. Default: one try.',
      timeout_ms:
        'Milliseconds for one try: 840000 at the most, or 30 days of the handlers lambda, aws and container. Default: 300000.',
      strict_output: 'Whether an answer that breaks the contract is repaired by a further question. Default: true.',
      contract_repair_attempts: 'Such questions inside one try. Default: 1.',
      block_dir: 'Accepted from other systems; nothing is read from folders.',
    },
  },
  agent: {
    section: 'A provider and a model by name, or a role, capability or name of an agent of sluice.yaml.',
    keys: {
      ...EXTRAS,
      provider: 'A provider that is configured; never replaced in silence.',
      model: 'A model of that provider.',
      prompt: 'Template: {{inputs.NAME}}. Default: written from name, ports and gate errors.',
      system: 'Template, sent before the prompt.',
      prompt_template: 'A shipped text for the part this agent plays towards a goal; it stands before `system`.',
      model_params: 'Handed to the provider as they are.',
      role: 'Finds an agent of sluice.yaml by its role.',
      capability: 'Finds an agent of sluice.yaml by what it can do.',
      specific: 'Finds an agent of sluice.yaml by its name.',
      fallback: 'Who is asked, in this order, when those before are not there, refuse or do not fit the budget.',
      tools: 'What it may call: it asks, sees what came of it, and goes on until it is done.',
      max_turns: 'Answers of the model in one try. Default: 20.',
      max_parallel: 'Calls of one turn that are made side by side. Default: 8.',
      max_refused: 'Calls that gates and people may refuse before the block fails. Default: 5.',
      taint:
        'What tools that write are after it read what others wrote: approve (a person is asked), forbid or off. Default: approve.',
    },
  },
  fallback: {
    section: 'A model that answers in place of the agent.',
    keys: {
      provider: 'A provider that is configured.',
      model: 'A model of that provider.',
      model_params: "Handed to the provider as they are. Default: the agent's.",
    },
  },
  tool: {
    section: 'One tool of an agent.',
    keys: {
      use: 'SERVER.TOOL of mcp_servers, ./steps/NAME.ts, dag.NAME, or one of ours: graph.search, ask_person ..',
      effect: 'read or write: whether it changes something outside.',
      idempotent: 'Doing it twice with the same key is doing it once. Default: false.',
      untrusted: 'What it gives was written by others. Default: true of servers.',
      gates: 'Judge its arguments, and with after: true what it gave, before the model sees it.',
      approval: 'A person is asked before it is called: true, or the details.',
      max_calls: 'Calls of it in one pass of the block. Default: no limit but max_turns.',
      timeout_ms: 'Milliseconds for one call. Default: 60000.',
      config: 'Of a step.',
    },
  },
  deterministic: {
    section: 'Work without a model.',
    keys: { handler: 'What runs.', config: "The handler's own settings." },
  },
  gate: {
    section: 'A deterministic check and what its failure means.',
    keys: {
      ...EXTRAS,
      name: 'Unique in the block.',
      check: 'The kind of gate and its parameters.',
      error: 'Said to people and to the next try.',
      on_fail:
        'retry, fail, warn (counts for nothing), route (a rule of on_gate_fail) or ask (a person may waive it). Default: fail before, retry after the work.',
    },
  },
  gate_composition: {
    section: 'How the verdicts of each phase become one.',
    keys: { pre: 'For the pre-gates.', post: 'For the post-gates.' },
  },
  at_least: { section: 'So many gates must hold.', keys: { at_least: 'How many.' } },
  weights: {
    section: 'The weights of the gates that hold must reach the threshold.',
    keys: { weights: 'Weight of a gate, by its name; others count 0.', threshold: 'The sum that is enough.' },
  },
  approval: {
    section: 'Who is asked what, and what silence means.',
    keys: {
      required: 'false: nobody is asked. Default: true.',
      prompt: 'The question; a template.',
      show: 'Inputs (PORT) and upstream outputs (BLOCK.OUTPUT) the person sees. Default: all inputs.',
      approvers:
        'Who may decide: user:NAME, group:NAME, slack:ID, iam:ROLE, token:ID. Default: the default group, else anyone.',
      approver: 'One more approver; without a kind it is a user.',
      quorum: 'How many people must approve; one who rejects is enough. Default: 1.',
      self_approval: 'Whether the starter of the run may decide. Default: true.',
      timeout_sec: 'Seconds to decide in. Default: 1800.',
      on_timeout: 'What expiry means. Default: reject.',
      remind_sec: 'Seconds between reminders. Default: none.',
      escalate: 'Who may decide besides, from when on.',
      edit: 'Inputs the person who approves may change. Default: none.',
      on_reject:
        'What a rejection means: the block fails, a run with the feedback takes the place of this one (iterate), or the run is sent back (route: a rule of on_gate_fail with when_gate: approval). Default: fail.',
      max_iterations: 'Runs in place of one another; then a rejection is a failure. Default: 5.',
      reuse:
        'Whether a retry may take over a decision of the earlier run that binds exactly the same, of people who still may decide. Default: false, it asks again.',
    },
  },
  escalate: {
    section: 'Further people for an approval nobody decides.',
    keys: { after_sec: 'Seconds after it was asked.', to: 'As approvers.' },
  },
  retry: {
    section: 'Further tries after a failure that may pass.',
    keys: {
      max_attempts: 'Tries in all; 0 and 1 are one try.',
      backoff: 'How the delay grows. Default: exponential.',
      delay_ms: 'Milliseconds before the second try; below 1,000 too. Default: 1000.',
      max_delay_ms: 'No delay is longer. Default: 30000.',
      jitter: 'full: a random part of the delay. Default: full.',
    },
  },
  edge: {
    section: 'Order between two blocks; with output and input a value travels.',
    keys: {
      ...EXTRAS,
      from: 'Id of the block that is done before.',
      output: 'Its output.',
      to: 'Id of the block that starts after.',
      input: 'Its input.',
      transform: 'Expression over value and outputs; its result is the input.',
    },
  },
  foreach: {
    section: 'A list, and how its items are worked on. Outputs become lists in item order.',
    keys: {
      items: 'The list, or one placeholder such as "{{inputs.files}}".',
      as: 'Name of the input that holds the item. Default: item.',
      max_concurrency: 'Items at work at once. Default: 10.',
      tolerate: 'Failed items the block survives. Default: 0.',
      fail_fast: 'Once more items have failed than tolerate allows, no other is dispatched. Default: true.',
      item_gates: 'Judge the outputs of each item.',
    },
  },
  cache: {
    section: 'When an earlier result may stand in.',
    keys: { key: 'What must be equal besides the definition: the inputs.', max_age_sec: 'How old it may be.' },
  },
  budget: {
    section: 'Caps of a run. An estimate is reserved before each call; one that does not fit is not made.',
    keys: {
      ...CAPS,
      on_exceed:
        'What happens then: the block fails (fail), or a person is asked to raise the cap (ask). Default: fail.',
    },
  },
  block_budget: { section: 'Caps of one block.', keys: CAPS },
  bounce: {
    section: 'A way back for one gate.',
    keys: {
      when_gate: 'Name of a gate of this block.',
      route_to: 'The block to go back to: this one or one before it.',
      reset_blocks: 'Further blocks that run again; those between are added.',
      max_bounces: 'How often; then the failure stands. Default: 1.',
      reason: 'Said to people and to the blocks that run again.',
      feedback_from: 'What those blocks are told.',
    },
  },
  child: {
    section: 'A deployed DAG that runs as a child of this run.',
    keys: {
      name: 'Its name.',
      inputs: 'Its run inputs; texts are templates over the inputs of this block. Default: those inputs by name.',
      outputs: 'BLOCK.OUTPUT of the child for outputs of this block. Default: the like-named output of a last block.',
    },
  },
  research: {
    section: 'A question to the knowledge graph, answered by a child run.',
    keys: {
      topic: 'What is asked; a template over the inputs of this block.',
      hints: 'Texts by key that narrow the search, such as entity_kind; templates over the inputs of this block.',
      budget_tokens: 'Tokens of all its model calls, and of the evidence that is kept. Default: 4000.',
      max_iterations: 'Rounds of further search where the evidence is not sufficient. Default: 5.',
      keep_unsupported:
        'Whether sentences of the answer that no evidence they cite says stay, each marked (unsupported). Default: false, they are left out.',
    },
  },
  wait: {
    section: 'What the block waits for: exactly one of for, until, event and callback. Nothing runs meanwhile.',
    keys: {
      for: 'How long: 90s, 2h, 1d12h, or a number of seconds.',
      until: 'Until when: a time with its offset, or one placeholder such as "{{inputs.at}}".',
      event: 'For which event, which somebody sends to POST /api/events; what it says becomes the outputs.',
      callback:
        'true: for one call of an address that only the output callback_url tells; its body becomes the outputs.',
      timeout: 'How long for an event or a callback. Default: 7d.',
      on_timeout: 'What it means when nothing came: the block fails, or completes without outputs. Default: fail.',
    },
  },
  trigger: {
    section: 'Starts runs by itself: exactly one of schedule, webhook, event, run and object (docs/triggers.md).',
    keys: {
      name: 'Unique in the document: runs say trigger:NAME as their starter.',
      inputs: 'Run inputs by name: values, or JSONata in {% and %}, where $now() is the time of the firing.',
      priority:
        'Seconds by which its runs stand in queues as if they had been started earlier, -3600 to 3600. Default: 0.',
      schedule: 'At times.',
      webhook: 'By requests of others, to an address of its own.',
      event: 'By events of outside, as POST /api/events takes them.',
      run: 'By the end of runs of another document.',
      object: 'By what is dropped: files of the inputs folder, objects of the bucket for it.',
      debounce: 'Of firings shortly one after the other the last starts a run; not of a schedule.',
      rate: 'How many start runs in a stretch of time, the others are left out; not of a schedule.',
    },
  },
  trigger_schedule: {
    section: 'Times by a cron expression.',
    keys: {
      cron: 'Five fields: minute, hour, day of the month, month, day of the week, as "0 6 * * 1-5".',
      timezone: 'Whose clock: a name of the IANA time zone database. Default: UTC.',
      overlap:
        'While the run before goes on: the firing is left out (skip), starts beside it (allow), or waits for it (queue). Default: skip.',
      catch_up:
        'Of the times that passed while nobody looked: none, the last, or all, the newest hundred at the most. Default: none.',
    },
  },
  trigger_webhook: {
    section: 'Messages to POST /api/hooks/DOCUMENT/TRIGGER.',
    keys: {
      verify: 'How a sender proves itself.',
      dedupe:
        'JSONata over body, headers and query: messages of one answer are one firing. Default: the same bytes are.',
      map: 'Run inputs by name, each JSONata over body, headers and query.',
      max_body_bytes: 'Of one message. Default: 65536.',
      max_per_minute: 'Verified messages in one minute. Default: 60.',
    },
  },
  trigger_verify: { section: 'How a sender proves itself.', keys: { hmac: 'By a keyed hash of the body.' } },
  trigger_hmac: {
    section: 'A keyed hash over the bytes of the body, in a header.',
    keys: {
      header: 'The header it is in.',
      secret: 'The name of the secret under triggers.secrets in sluice.yaml.',
      algorithm: 'The hash. Default: sha256.',
      encoding: 'How it is written. Default: hex.',
      prefix: 'What stands before it in the header, as sha256=. Default: nothing.',
      timestamp: 'When it was sent, signed too, as TIME.BODY; without it a message has no age.',
    },
  },
  trigger_timestamp: {
    section: 'Seconds since 1970, in a header.',
    keys: { header: 'The header it is in.', window_sec: 'How old, or how far ahead, it may be. Default: 300.' },
  },
  trigger_event: {
    section: 'Events of one name, those that match.',
    keys: {
      name: 'The name it is sent under.',
      match: 'JSONata over event (id, name, key, at, payload) and detail, its payload; anything but true is no match.',
      map: 'Run inputs by name, each JSONata over event and detail.',
    },
  },
  trigger_run: {
    section: 'The end of each run of another document, that of the ones it is a part of left out.',
    keys: {
      dag: 'The name of the deployed document, as runs of it are started by.',
      ends: 'How it has to end. Default: [completed].',
      map: 'Run inputs by name, each JSONata over run (run_id, dag, state, starter, ended_at, ..) and outputs, by block and port.',
    },
  },
  trigger_object: {
    section: 'What is dropped, each version once: a prefix, a suffix, or both.',
    keys: {
      prefix: 'What its key begins with, as inbox/.',
      suffix: 'What its key ends with, as .csv.',
      max_bytes: 'Larger ones are refused. Default: 10485760, at most 67108864.',
      map: 'Run inputs by name, each JSONata over object (ref, key, name, bytes, sha256, version, at).',
    },
  },
  trigger_debounce: {
    section: 'Firings wait until nothing has come for a while; the last of them stands for all.',
    keys: {
      for: 'How long nothing must have come, up to 1h.',
      at_most: 'How long it waits from the first of them, up to 6h. Default: ten times as long as for.',
    },
  },
  trigger_rate: {
    section: 'So many starts in any stretch of time of this length.',
    keys: { limit: 'How many, 100 at the most.', per: 'How long the stretch is, up to 1d.' },
  },
  wait_event: {
    section: 'Events of one name, those of one key, or those that match.',
    keys: {
      name: 'The name it is sent under.',
      key: 'Only events of this key; a template over the inputs of this block.',
      match: 'JSONata over event (id, name, key, at, payload) and inputs; anything but true is no match.',
    },
  },
}
