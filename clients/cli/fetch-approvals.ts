import * as z from 'zod'
import type { paths } from '../api/schema.generated.ts'
import { callApi, type Target } from './api.ts'
import { ApprovalSchema } from './approval-answer.ts'
import { Refused } from './refused.ts'

const text = z.string()
const range = z.looseObject({ low: z.number(), expected: z.number(), high: z.number() })

/** What the CLI shows of the inbox (shared/api/list-approvals.ts has all of it); a newer server may say more. */
const EntrySchema = ApprovalSchema.extend({
  run_id: text,
  dag_name: text,
  age_ms: z.number(),
  reminders: z.int(),
  may_decide: z.looseObject({ allowed: z.boolean(), code: text.optional(), reason: text.optional() }),
  risk: z.looseObject({ level: text, because: z.array(text).readonly() }),
  cost: z.looseObject({
    spent: z.looseObject({ tokens: z.number(), usd: z.number().nullable() }),
    to_come: z.looseObject({ tokens: range, usd: range.nullable() }),
  }),
}).loose()
export type InboxApproval = z.infer<typeof EntrySchema>

export type InboxQuery = NonNullable<paths['/api/dag/approvals']['get']['parameters']['query']>

const DamagedSchema = z.looseObject({ run_id: text, approval_id: text, item: text, seen: text, fix: text })

const PageSchema = z.looseObject({
  approvals: z.array(EntrySchema).readonly(),
  damaged: z.array(DamagedSchema).readonly().optional(),
  next_cursor: text.nullable(),
})
type Page = z.infer<typeof PageSchema>

/** One page of the inbox; members that are absent are left to the server. */
export function fetchApprovals(target: Target, query: InboxQuery): Promise<Page> {
  return callApi(target, PageSchema, (api) => api.GET('/api/dag/approvals', { params: { query } }))
}

/** One approval, open or not; Refused unknown_approval. */
export async function fetchApproval(target: Target, id: string): Promise<InboxApproval> {
  const { approvals } = await fetchApprovals(target, { approval_id: id })
  const [found] = approvals
  if (found !== undefined) return found
  const detail = `Cannot find approval "${id}": there is no such one. \`sluice approvals list --status all\` shows those there are.`
  throw new Refused({ code: 'unknown_approval', detail })
}
