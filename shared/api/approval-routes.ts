import * as z from 'zod'
import { RISK_LEVELS } from '../approvals/risk.ts'
import { DeclaredSchema } from '../auth/declared-client.ts'
import { StoredValueSchema } from '../runs/event.ts'
import { ASKED_ABOUT } from '../runs/head.ts'
import { queryInt, type RouteSchema } from './route-schema.ts'
import { AskedGatesSchema, CALL_QUESTION, RaiseSchema, RunChangesSchema, VoteSchema } from './route-schema-parts.ts'

const text = z.string()
const count = z.int().min(0)
const names = z.array(text).readonly()
const range = z.strictObject({ low: z.number(), expected: z.number(), high: z.number() })
const refs = z.record(text, StoredValueSchema).readonly()

const CostSchema = z.strictObject({
  spent: z.strictObject({
    tokens: count,
    usd: z.number().nullable().describe('null = no price is known'),
    unpriced: names.describe('Blocks whose calls have no known price and are not in it'),
  }),
  to_come: z
    .strictObject({ tokens: range, usd: range.nullable(), unpriced: names, children: names })
    .describe('Of models, in the blocks a yes lets begin, as `sluice plan` estimates; without the child runs named'),
})

const EntrySchema = z.strictObject({
  approval_id: text,
  run_id: text,
  dag_name: text,
  block_id: text,
  about: z.enum(ASKED_ABOUT).describe('dispatch: before the work of a block; else in the middle of it'),
  status: z.enum(['pending', 'approved', 'rejected', 'expired', 'cancelled']),
  prompt: text,
  shown: z.record(text, z.unknown()).describe('The values; a large one, or one past 1 MiB of a page, is its {ref, ..}'),
  shown_refs: refs,
  digest: text.describe('Send it back to approve: it binds the decision to what was shown'),
  changes: RunChangesSchema.optional().describe('In what the run differs from a plain start of its deployed document'),
  gates: AskedGatesSchema.optional(),
  raise: RaiseSchema.optional(),
  starter: text,
  requested_at: text,
  expires_at: text,
  age_ms: count.describe('How long it has waited, or did'),
  approvers: names.describe('Empty: who may approve in this place; groups are those of now'),
  self_approval: z.boolean(),
  quorum: z.int().min(1),
  votes: z.array(VoteSchema).readonly().describe('Who approved where one is not enough'),
  reminders: count,
  escalated_to: names.optional(),
  edit: names.describe('Inputs who approves may change'),
  ...CALL_QUESTION,
  on_timeout: z.enum(['reject', 'fail', 'approve']),
  on_reject: z.enum(['fail', 'iterate', 'route']),
  may_decide: z
    .strictObject({ allowed: z.boolean(), code: text.optional(), reason: text.optional() })
    .describe('Whether the caller may, and why not'),
  risk: z
    .strictObject({ level: z.enum(RISK_LEVELS), because: names })
    .describe('From facts of the document and the run by fixed rules: docs/approvals.md'),
  cost: CostSchema,
  decided_by: text.optional(),
  decided_at: text.optional().describe('When it was decided, expired, or its run or block ended'),
  decided_person: text.optional().describe('Who that is, where it is another name of theirs'),
  via: text.optional().describe('By what the place saw the decision come'),
  declared: DeclaredSchema.optional().describe('What the client said of itself'),
  links: z.record(text, text),
})
export type ApprovalEntry = z.output<typeof EntrySchema>

export const LIST_APPROVALS = {
  summary: 'What people are asked, over all runs: open ones longest waiting first, decided ones newest first',
  query: z.strictObject({
    status: z
      .enum(['pending', 'decided', 'all'])
      .default('pending')
      .describe('`decided`: also expired and cancelled ones; `all`: open ones, then the others'),
    values: z.enum(['shown', 'refs']).default('shown').describe('`refs`: without the values themselves'),
    approval_id: text.min(1).max(100).optional().describe('Only this one, whatever its status; an empty list: unknown'),
    limit: queryInt(1, 100, 20),
    cursor: text.min(1).max(500).optional(),
  }),
  answer: z.strictObject({
    approvals: z.array(EntrySchema),
    damaged: z
      .array(
        z.strictObject({
          run_id: text,
          approval_id: text,
          item: z.enum(['META', 'HEAD', 'APPROVAL']),
          seen: text,
          fix: text,
        }),
      )
      .optional()
      .describe('Questions of this page that cannot be read, or whose run cannot; the others are listed all the same'),
    next_cursor: text.nullable().describe('null ends the list; a page before that may be short'),
  }),
} as const satisfies RouteSchema
