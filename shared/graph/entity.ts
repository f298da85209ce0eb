import * as z from 'zod'
import { refuseEntityId } from './entity-id.ts'
import { TripleSchema } from './triple.ts'

/** What one entity may hold. It is one item of the table, which ends at 400 KB. */
export const ENTITY_LIMITS = {
  /** Statements, edges among them; what has more members than this states it from their side. */
  triples: 1_000,
  aliases: 50,
  label_characters: 500,
  snippet_characters: 2_000,
  object_characters: 4_000,
  /** Of the entity as JSON. */
  json_bytes: 204_800,
} as const

const ID = z.string().superRefine((text, context) => {
  const refusal = refuseEntityId(text)
  if (refusal !== undefined) context.addIssue({ code: 'custom', message: refusal.message })
})

const NAME = z
  .string()
  .max(ENTITY_LIMITS.label_characters)
  .refine((text) => text.trim() !== '', 'A name is not blank.')

/** An entity as it is put and as it is answered: the whole of it, so that putting replaces it. */
export const EntitySchema = z.strictObject({
  entity_id: ID,
  label: NAME.optional(),
  /** Further names it is known by. */
  aliases: z.array(NAME).max(ENTITY_LIMITS.aliases).optional(),
  /** Absent: the fifth segment of the id. */
  type: NAME.optional(),
  /** A short preview, searched and shown. */
  snippet: z.string().max(ENTITY_LIMITS.snippet_characters).optional(),
  /** Its body in the object store: its text is searched in passages. */
  objectstore_ref: z
    .string()
    .regex(/^objstore:\/\/[^/]+\/[0-9a-f]{64}$/, 'A ref is objstore://<tenant>/<64 hex digits of sha256>.')
    .optional(),
  /** When it happened or was last true; absent: its newest triple's. */
  time: z.iso.datetime({ offset: true }).optional(),
  /** Degrees. */
  geo: z.strictObject({ lat: z.number().min(-90).max(90), lon: z.number().min(-180).max(180) }).optional(),
  /** Each has the entity for its subject. */
  triples: z.array(TripleSchema).max(ENTITY_LIMITS.triples).optional(),
})

export type Entity = z.infer<typeof EntitySchema>
