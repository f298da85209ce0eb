import * as z from 'zod'
import { DeclaredSchema } from '../../../shared/auth/declared-client.ts'

const text = z.string()

const VoteSchema = z.looseObject({
  by: text,
  person: text.optional(),
  via: text,
  declared: DeclaredSchema.optional(),
  at: text,
  feedback: text.optional(),
})

/** What the CLI shows of one approval, in GET run and in the inbox; a newer server may say more. */
export const ApprovalSchema = z.looseObject({
  approval_id: text,
  block_id: text,
  status: text,
  prompt: text,
  shown: z.record(text, z.unknown()),
  digest: text,
  expires_at: text,
  about: text.optional(),
  gates: z
    .array(z.looseObject({ name: text, reason: text }))
    .readonly()
    .optional(),
  changes: z
    .looseObject({
      overrides: z
        .array(z.looseObject({ port: text, value: text, sha256: text }))
        .readonly()
        .optional(),
      context: z
        .array(
          z.looseObject({
            key: text,
            version: z.int(),
            by: text.optional(),
            value: text.optional(),
            from: text.optional(),
          }),
        )
        .readonly()
        .optional(),
      document: z
        .looseObject({
          of: text,
          dag_hash: text,
          added: z.array(text).readonly(),
          removed: z.array(text).readonly(),
          changed: z.array(text).readonly(),
          other: z.boolean(),
        })
        .optional(),
    })
    .optional(),
  raise: z.looseObject({ tokens: z.number().optional(), usd: z.number().optional() }).optional(),
  edit: z.array(text).readonly().optional(),
  edit_types: z.record(text, text).optional(),
  tool: text.optional(),
  allow_rest: z.literal(true).optional(),
  edits: z.unknown().optional(),
  on_timeout: text.optional(),
  quorum: z.int().optional(),
  votes: z.array(VoteSchema).readonly().optional(),
  reminded: z.int().optional(),
  escalated_to: z.array(text).readonly().optional(),
  iterate: text.optional(),
  decided_by: text.optional(),
  decided_at: text.optional(),
  feedback: text.optional(),
})

export type Approval = z.infer<typeof ApprovalSchema>
