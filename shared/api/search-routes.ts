import * as z from 'zod'
import { NOTE_LIMITS } from '../runs/labels.ts'
import { LabelKeySchema, LabelsSchema } from '../runs/labels-schema.ts'
import { MOST_COUNTED } from '../search-runs/count.ts'
import { COUNT_FIELDS } from '../search-runs/count-fields.ts'
import { QUERY_LIMITS } from '../search-runs/query.ts'
import { queryInt, type RouteSchema, RunParamsSchema } from './route-schema.ts'
import { DamagedRunsSchema, RunSummarySchema } from './run-routes.ts'

const text = z.string()

/** What a search is written in (docs/runs.md, "Search"). */
const q = text
  .max(QUERY_LIMITS.characters)
  .default('')
  .describe('What is looked for: words, and terms as `state:failed label:team=growth cost:>0.5`; empty: every run')

const CursorSchema = text.regex(
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z#run_[0-9a-z]{26}$/,
  'the next_cursor of the page before',
)
const count = z.int().min(0)

const NoteSchema = z.strictObject({
  id: text,
  at: text,
  by: text,
  person: text.optional().describe('Who that is, where `by` is another name of theirs'),
  text: text.optional(),
  labels: z
    .strictObject({ set: z.record(text, text), removed: z.array(text).readonly() })
    .optional()
    .describe('How the labels of the run were changed'),
})

/** Routes that find runs, label them and write notes to them. */
export const SEARCH_ROUTES = {
  'search-runs': {
    summary: 'Runs that a search finds, newest first',
    query: z.strictObject({
      q,
      limit: queryInt(1, 200, 50),
      cursor: CursorSchema.optional(),
    }),
    answer: z.strictObject({
      runs: z.array(RunSummarySchema),
      damaged: DamagedRunsSchema,
      next_cursor: text.nullable().describe('null ends the list; a page before that may be short'),
    }),
  },
  'count-runs': {
    summary: 'How many runs a search finds, and what they cost, by one of their fields',
    query: z.strictObject({
      q,
      by: text
        .min(1)
        .max(300)
        .describe(`${COUNT_FIELDS.join(', ')} or label.KEY`),
      over: z.literal('day').optional().describe('Each count by the day the runs were started, UTC'),
      cursor: CursorSchema.optional(),
    }),
    answer: z.strictObject({
      counts: z.array(
        z.strictObject({
          value: text.nullable().describe('null: these have none'),
          day: text.optional(),
          runs: count,
          tokens: count,
          usd: z.number().describe('As far as prices are known'),
        }),
      ),
      counted: count.describe(`The runs these counts are of, ${MOST_COUNTED} at most a page`),
      damaged: count.describe('Runs that cannot be read: they are in no count'),
      next_cursor: text
        .nullable()
        .describe('null: every run is counted; else older ones are not yet, add the next page'),
    }),
  },
  'list-notes': {
    summary: 'What people wrote to a run, and how they changed its labels, oldest first',
    params: RunParamsSchema,
    answer: z.strictObject({ notes: z.array(NoteSchema) }),
  },
  'add-note': {
    summary: 'Write a note to a run, or change its labels; also after its end',
    params: RunParamsSchema,
    body: z
      .strictObject({
        text: text
          .max(NOTE_LIMITS.characters)
          .regex(/\S/, 'a note that is not blank')
          .optional()
          .describe('What others are to know of the run'),
        labels: z
          .strictObject({ set: LabelsSchema.optional(), remove: z.array(LabelKeySchema).max(20).optional() })
          .refine(
            ({ set = {}, remove = [] }) => Object.keys(set).length + remove.length > 0,
            'give set, remove or both',
          )
          .optional(),
      })
      .refine(({ text: note, labels }) => note !== undefined || labels !== undefined, 'give text, labels or both'),
    status: 201,
    answer: z.strictObject({ note: NoteSchema, labels: z.record(text, text).describe('Those the run has now') }),
  },
} as const satisfies Record<string, RouteSchema>
