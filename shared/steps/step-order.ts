import * as z from 'zod'
import type { Json } from '../text/json.ts'

const text = z.string()
const count = z.int().min(0)
/** Read from JSON: it is never anything else. */
const json = z.custom<Json>((value) => value !== undefined)

/** What an attempt of a step works with, kept as an object: whoever does the work reads it by its ref. */
export const StepOrderSchema = z.strictObject({
  v: z.literal(1),
  /** The handler as the document names it, and the hash of its code as the run began with it. */
  name: text,
  hash: text,
  kind: z.enum(['module', 'program', 'container', 'native']),
  inputs: z.record(text, json),
  /** What gates see besides them: the run's inputs, and of an item the list it comes from. */
  beside: z.record(text, json),
  config: json,
  /** What sent the block back, and what its last attempt was refused for, a line each. */
  feedback: z.array(text),
  /** The same for the same attempt, and for no other. */
  key: text,
  /** What the step is told as its key; absent: the same. */
  told_key: text.optional(),
  attempt: count,
  timeout_ms: count,
  /** Bytes its artifacts and its log may have in all: what the run may still store. */
  room_bytes: count,
})
export type StepOrder = z.infer<typeof StepOrderSchema>

/** Where an attempt of a step stands: what a report about it is judged by. */
export const StepPlaceSchema = z.strictObject({
  tenant: text,
  run_id: text,
  block: text,
  /** Its position in the document. */
  index: count,
  item: count.optional(),
  e: count.optional(),
  attempt: count,
  /** Who claimed it: another claim is another attempt, or another leg of it. */
  holder: text,
})
export type StepPlace = z.infer<typeof StepPlaceSchema>

/** What a place is asked to run: an order, where it stands, and the token its machine waits with. */
export interface StepStart {
  readonly place: StepPlace
  readonly order_ref: string
  readonly token: string
}

const NOTE_CHARACTERS = 200

/**
 * What whoever does the work says of it: that it begins, that it only looks whether it was stopped, that it goes on, and
 * how it ended. `outcome` is the ref of a StepOutcome. The answer tells whether the attempt is still its own.
 */
export const StepReportSchema = z.strictObject({
  place: StepPlaceSchema,
  token: text,
  say: z.enum(['begin', 'look', 'go_on', 'end']),
  progress: z.strictObject({ fraction: z.number().min(0).max(1), note: text.max(NOTE_CHARACTERS) }).optional(),
  outcome: text.optional(),
})
export type StepReport = z.infer<typeof StepReportSchema>

/** The last lines of an attempt's log, and where all of it lies. */
export const StepLogSchema = z.strictObject({
  ref: text,
  bytes: count,
  lines: count,
  /** Its beginning or middle was left out: it was longer than is kept. */
  cut: z.literal(true).optional(),
  tail: z.array(text),
})
export type StepLog = z.infer<typeof StepLogSchema>

/** What an attempt left behind, by name, in the order it was written. */
const ArtifactSchema = z.strictObject({
  name: text,
  ref: text,
  sha256: text,
  bytes: count,
  media_type: text.optional(),
})

/** How an attempt of a step ended, kept as an object. `key` says which attempt it is of. */
export const StepOutcomeSchema = z.strictObject({
  v: z.literal(1),
  key: text,
  /** The order it worked with. */
  order_ref: text,
  /** Values by output of one that returned. */
  outputs: z.record(text, json).optional(),
  /** Why it did not. `retry`: whether another try may help. */
  failure: z
    .strictObject({ code: text, reason: text, retry: z.boolean(), retry_after_ms: z.number().min(0).optional() })
    .optional(),
  usd: z.number().min(0).optional(),
  artifacts: z.array(ArtifactSchema),
  log: StepLogSchema.optional(),
  latency_ms: z.number().min(0),
  /** Of what was stored for it, beside this object. */
  stored_bytes: count,
})
export type StepOutcome = z.infer<typeof StepOutcomeSchema>

/** Limits of what one attempt may say and leave (docs/steps.md, "Limits"). */
export const STEP_LIMITS = {
  /** Bytes of its outputs as JSON. */
  answer_bytes: 4_194_304,
  /** Bytes of its log that are kept: the first half and the last. */
  log_bytes: 1_048_576,
  /** Lines of it in the event, and characters of one. */
  tail_lines: 8,
  tail_characters: 160,
  /** Bytes of all of them: of those that do not fit the last are kept. */
  tail_bytes: 1_024,
  artifacts: 1_000,
  artifact_bytes: 67_108_864,
  memory_mb: 512,
  /** Between being told to end and being ended. */
  grace_ms: 2_000,
  /** Changes of its progress that are recorded, of one attempt. */
  progress: 18,
  note_characters: NOTE_CHARACTERS,
} as const
