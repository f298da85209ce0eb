import * as z from 'zod'
import { ERASURE_STEPS, type RunMark } from '../runs/erasure.ts'
import { type RouteSchema, RunParamsSchema } from './route-schema.ts'

const text = z.string()
const count = z.int().min(0)
const reason = text.min(1).max(500).describe('Why, in your own words: they are kept for good, so name nobody')

const SaidSchema = z.strictObject({ by: text, person: text.optional(), at: text, reason: text })

export const ErasureSchema = SaidSchema.extend({
  step: z.enum(ERASURE_STEPS).describe('How far it is: erased = nothing is left but this record'),
  children: z.array(text).describe('The runs below it, which go with it'),
  when_ended: z.literal(true).optional().describe('It was asked for while the run went on, and begins at its end'),
  of: text.optional().describe('The run it goes with'),
  run: z
    .strictObject({
      dag_name: text,
      dag_hash: text,
      state: text,
      created_at: text,
      ended_at: text.optional(),
      seq: count.describe('How many events it had'),
      hash: text.describe('The hash of the last of them: the end of its chain'),
      parent: text.optional(),
    })
    .optional()
    .describe('What the run was'),
  slack_messages: count.optional().describe('Messages that Slack was told to delete'),
  bodies: z
    .strictObject({
      named: count,
      erased: count.optional(),
      kept: count.optional().describe('They stay: somebody else names them'),
    })
    .optional(),
  brought_back: count
    .optional()
    .describe('How often a copy from before brought its bodies again: they were erased once more'),
  untold: z.array(text).optional().describe('Webhooks and buses that are still to be told of it'),
  not_told: z.array(text).optional().describe('Webhooks and buses that did not take it in time'),
  erased_at: text.optional(),
  proof: text.optional().describe('sha256 over the hash of the last event and this record'),
})

/** What stands beside a run: GET answers it, and each change as it is then. */
const MarkSchema = z.strictObject({
  run_id: text,
  hold: SaidSchema.optional().describe('Who holds it: nothing of it is removed'),
  erasure: ErasureSchema.optional(),
})
type ShownMark = z.output<typeof MarkSchema>

export function showMark(run_id: string, mark: RunMark | undefined): ShownMark {
  const { hold, erasure } = mark ?? {}
  const shown = { run_id, ...(hold === undefined ? {} : { hold }) }
  if (erasure === undefined) return shown
  const { version: _, look: _look, children, untold, not_told, ...rest } = erasure
  const told = { ...(untold && { untold: [...untold] }), ...(not_told && { not_told: [...not_told] }) }
  return { ...shown, erasure: { ...rest, ...told, children: [...children] } }
}

const body = z.strictObject({ reason })

/** Holds and erasures (docs/operate.md, "Forgetting a run"). */
export const ERASURE_ROUTES = {
  'erase-run': {
    summary: 'Erase a run that is over, and the runs below it: what it was given, said and made; a record stays',
    params: RunParamsSchema,
    body: body.extend({
      when_ended: z.boolean().optional().describe('Of a run that goes on: erase it as soon as it has ended'),
    }),
    status: 202,
    answer: MarkSchema,
  },
  'get-erasure': {
    summary: 'Whether a run is held, is being erased or was: the record that proves it',
    params: RunParamsSchema,
    answer: MarkSchema,
  },
  'hold-run': {
    summary: 'Hold a run and the runs below it: nobody can erase them, and none of it grows too old',
    params: RunParamsSchema,
    body,
    answer: MarkSchema,
  },
  'release-hold': {
    summary: 'Hold a run no more: from then on it ages again',
    params: RunParamsSchema,
    body,
    answer: MarkSchema,
  },
} as const satisfies Record<string, RouteSchema>
