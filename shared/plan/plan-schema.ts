import * as z from 'zod'

const text = z.string()
const count = z.int().min(0)
const seconds = z.number().min(0)
const ids = z.array(text).readonly()

/** One machine: `main`, or a part it was split into for size. */
const MachineSchema = z.strictObject({
  name: text,
  bytes: count.describe('Definition with ARNs of a usual length'),
  states: count,
  transitions: count.describe('States entered in a run without retries'),
  events: count.describe('History events of such a run'),
  event_budget: count.describe('History events at most: every try, bounce and item used'),
})

const LimitSchema = z.strictObject({
  name: z.enum(['definition_bytes', 'history_events', 'blocks', 'foreach_items', 'head_bytes']),
  used: count,
  limit: count,
  share: z.number().describe('used of limit, 1 = reached'),
})

const RangeSchema = z
  .strictObject({ low: z.number(), expected: z.number(), high: z.number() })
  .describe('As well as it can go, as it usually does, as badly as retries, repairs and bounces allow')

const ModelCallSchema = z.strictObject({
  block: text,
  work: text.describe('answer, or judge and the name of the gate'),
  provider: text,
  model: text,
  calls: RangeSchema,
  tokens: RangeSchema,
  usd: RangeSchema.nullable().describe('null = the price is unknown'),
})

/** What a DAG will do before it has run: docs/plan.md explains every member. */
export const PlanSchema = z.strictObject({
  dag: text,
  blocks: count,
  critical_path: z.strictObject({ blocks: ids, seconds }),
  makespan: z.strictObject({
    seconds: seconds.describe('Of the compiled machine with unlimited parallelism; engine and people take no time'),
    max_parallel: count.describe('0 = no limit'),
    limited_seconds: seconds.describe('The same with max_parallel, first come first served: an estimate'),
  }),
  width: z.strictObject({
    at_once: count.describe('Blocks at work at once in the predicted run, items of a foreach as one each'),
    possible: count.describe('Blocks that can be at work at once, whatever they take'),
    exceeds_max_parallel: z.boolean(),
  }),
  transitions: count,
  events: count,
  event_budget: count.describe('Of the machine that has most'),
  bytes: count,
  states: count,
  parallels: count,
  depth: count.describe('How deep Parallels nest'),
  signals: count,
  joins: z.array(z.strictObject({ state: text, before: text, waits_for: ids, reason: text })).readonly(),
  machines: z.array(MachineSchema).readonly(),
  over_ordered: z.array(z.strictObject({ before: text, after: text, module: count, reason: text })).readonly(),
  cost: z.strictObject({
    region: text,
    as_of: text.describe('Day of the price table'),
    orchestration_usd_per_1000_runs: z.number(),
    lines: z.array(z.strictObject({ what: text, quantity: z.number(), usd: z.number() })).readonly(),
    work_usd_per_1000_runs: z.number().describe('Lambda while blocks work or wait for a model'),
    models: z
      .strictObject({
        calls: z.array(ModelCallSchema).readonly(),
        tokens: RangeSchema,
        usd: RangeSchema.describe('Of the calls whose price is known'),
        unpriced: ids.describe('Blocks with a call whose price is unknown'),
      })
      .describe('Calls of providers, of one run'),
  }),
  next_limit: LimitSchema,
  limits: z.array(LimitSchema).readonly(),
  assumptions: z.array(text).readonly(),
})
export type Plan = z.output<typeof PlanSchema>
