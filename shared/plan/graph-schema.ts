import * as z from 'zod'

const text = z.string()
const count = z.int().min(0)

const NodeSchema = z.object({
  id: text,
  name: text,
  mode: z.enum(['ai', 'deterministic', 'approval', 'dag', 'research', 'wait']),
  layer: count.describe('Longest way to it, in blocks'),
  pre_gates: z.array(text).readonly(),
  post_gates: z.array(text).readonly(),
  approval: z.boolean().describe('A person decides before its work'),
  foreach: z.boolean(),
  when: z.boolean().describe('It may be skipped by `when` or `depends`'),
  cached: z.boolean(),
  child: text.optional().describe('The DAG its child run runs'),
  module: count.optional().describe('The bounce module it belongs to'),
  critical: z.boolean().describe('On the critical path'),
})

/** A DAG as people draw it. Not strict: a newer server may say more than a reader knows. */
export const GraphSchema = z.object({
  dag: text,
  nodes: z.array(NodeSchema).readonly(),
  edges: z
    .array(
      z.object({
        from: text,
        to: text,
        wires: z.array(text).readonly().describe('`output -> input`; none where an edge only orders'),
        join: z.boolean().describe('The machine keeps it with a join instead of its structure'),
      }),
    )
    .readonly(),
  joins: z.array(z.object({ before: text, waits_for: z.array(text).readonly(), reason: text })).readonly(),
  bounces: z
    .array(z.object({ from: text, to: text, when_gate: text, max_bounces: count, resets: z.array(text).readonly() }))
    .readonly(),
  critical_path: z.object({ blocks: z.array(text).readonly(), seconds: z.number().min(0) }),
})
export type DagGraph = z.output<typeof GraphSchema>

const LiveSchema = z.object({
  state: text,
  attempt: count,
  max_attempts: count,
  epoch: count,
  started_at: text.optional(),
  ended_at: text.optional(),
  seconds: z.number().min(0).optional().describe('Of what has started: until it ended, or until now'),
})

/** The same with what each block is doing in a run. */
export const RunGraphSchema = GraphSchema.extend({
  run_id: text,
  state: text,
  nodes: z.array(NodeSchema.extend(LiveSchema.shape)).readonly(),
})
export type RunGraph = z.output<typeof RunGraphSchema>
